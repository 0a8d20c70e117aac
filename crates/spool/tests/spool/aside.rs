//! What an operator does with entries set aside; forgetting and keeping times.

use std::time::Duration;

use throughline_domain::{Clock as _, UserId};
use throughline_spool::{Entry, Expiry, NewEntry, Queued, Removed};

use crate::support::{Fixture, entry, in_line, keys, tenant};

#[tokio::test]
async fn a_requeued_entry_has_its_old_place_and_all_its_attempts() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let first = spool
        .enqueue(in_line("acme", "x", "x1"))
        .await
        .unwrap()
        .id();
    spool.enqueue(in_line("acme", "x", "x2")).await.unwrap();
    assert!(spool.set_aside(first, "no".to_owned()).await.unwrap());
    assert!(!spool.set_aside(first, "no".to_owned()).await.unwrap());
    assert_eq!(
        spool.enqueue(in_line("acme", "x", "x1")).await.unwrap(),
        Queued::SetAside(first)
    );
    assert_eq!(
        spool.requeue(tenant("other"), vec![first]).await.unwrap(),
        0
    );
    assert_eq!(
        spool
            .requeue(tenant("acme"), vec![first, first])
            .await
            .unwrap(),
        1
    );
    let batch = spool.next_batch(9).await.unwrap();
    assert_eq!(keys(&batch), ["x1", "x2"]);
    assert_eq!(batch[0].attempts, 0);
}

#[tokio::test]
async fn an_entry_set_aside_can_be_read_and_thrown_away_by_its_tenant_only() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let id = spool.enqueue(entry("acme", "k")).await.unwrap().id();
    assert_eq!(
        spool.discard(tenant("acme"), vec![id]).await.unwrap(),
        0,
        "it is in line"
    );
    spool.set_aside(id, "no".to_owned()).await.unwrap();
    assert_eq!(spool.read(tenant("other"), id).await.unwrap(), None);
    let read = spool.read(tenant("acme"), id).await.unwrap().unwrap();
    assert_eq!(read.payload, b"payload of k");
    assert_eq!(spool.discard(tenant("other"), vec![id]).await.unwrap(), 0);
    assert_eq!(spool.discard(tenant("acme"), vec![id]).await.unwrap(), 1);
    assert_eq!(spool.stats().set_aside.bytes, 0);
    assert!(matches!(
        spool.enqueue(entry("acme", "k")).await.unwrap(),
        Queued::New(_)
    ));
}

#[tokio::test]
async fn entries_set_aside_are_listed_page_by_page() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    for n in 0..6 {
        let name = if n % 2 == 0 { "even" } else { "odd" };
        let id = spool
            .enqueue(entry(name, &n.to_string()))
            .await
            .unwrap()
            .id();
        spool.set_aside(id, n.to_string()).await.unwrap();
    }
    let reasons = |page: &[throughline_spool::SetAside]| {
        page.iter()
            .map(|entry| entry.reason.clone())
            .collect::<Vec<_>>()
    };
    let first = spool.list_set_aside(None, None, 4).await.unwrap();
    let rest = spool
        .list_set_aside(None, first.last().map(|entry| entry.id), 4)
        .await
        .unwrap();
    assert_eq!(
        reasons(&[first, rest].concat()),
        ["0", "1", "2", "3", "4", "5"]
    );
    let odd = spool
        .list_set_aside(Some(tenant("odd")), None, 2)
        .await
        .unwrap();
    let more = spool
        .list_set_aside(Some(tenant("odd")), odd.last().map(|entry| entry.id), 2)
        .await
        .unwrap();
    assert_eq!(reasons(&[odd, more].concat()), ["1", "3", "5"]);
}

#[tokio::test]
async fn a_forgotten_users_entries_go_wherever_they_are() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let (gone, stays) = (UserId::from_u128(1), UserId::from_u128(2));
    let of = |name: &str, key: &str, user| NewEntry {
        user: Some(user),
        ..entry(name, key)
    };
    spool.enqueue(of("acme", "a", gone)).await.unwrap();
    let aside = spool.enqueue(of("acme", "b", gone)).await.unwrap().id();
    spool.set_aside(aside, "no".to_owned()).await.unwrap();
    spool.enqueue(of("acme", "c", stays)).await.unwrap();
    spool.enqueue(of("other", "d", gone)).await.unwrap();
    spool.enqueue(entry("acme", "e")).await.unwrap();
    let removed = spool.forget_user(tenant("acme"), gone).await.unwrap();
    assert_eq!(
        removed,
        Removed {
            pending: 1,
            set_aside: 1
        }
    );
    let mut left = spool.next_batch(9).await.unwrap();
    left.sort_by_key(|entry| entry.id);
    assert_eq!(keys(&left), ["c", "d", "e"]);
    assert_eq!(
        spool.forget_tenant(tenant("acme")).await.unwrap().pending,
        2
    );
    assert_eq!(spool.stats().pending.entries, 1);
}

#[tokio::test]
async fn what_was_kept_long_enough_goes() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let old = spool.enqueue(entry("acme", "old")).await.unwrap().id();
    spool.enqueue(entry("acme", "old in line")).await.unwrap();
    spool.set_aside(old, "no".to_owned()).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1));
    let before = fixture.clock.now();
    let young = spool.enqueue(entry("acme", "young")).await.unwrap().id();
    spool.set_aside(young, "no".to_owned()).await.unwrap();
    let mut expiry = Expiry {
        tenant: Some(tenant("other")),
        set_aside_before: before,
        pending_before: None,
    };
    assert_eq!(
        spool.expire(expiry.clone()).await.unwrap(),
        Removed::default()
    );
    expiry.tenant = None;
    assert_eq!(
        spool.expire(expiry.clone()).await.unwrap(),
        Removed {
            pending: 0,
            set_aside: 1
        }
    );
    expiry.pending_before = Some(before);
    assert_eq!(
        spool.expire(expiry).await.unwrap(),
        Removed {
            pending: 1,
            set_aside: 0
        }
    );
    let stats = spool.stats();
    assert_eq!((stats.pending.entries, stats.set_aside.entries), (0, 1));
    assert_eq!(stats.oldest_set_aside, Some(before));
}

// T-37
#[tokio::test]
async fn entries_recognised_by_their_content_go_wherever_they_are() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let mut ids = Vec::new();
    for (name, key) in [
        ("acme", "mina-1"),
        ("acme", "mina-2"),
        ("acme", "mina-3"),
        ("acme", "noor-1"),
        ("other", "mina-1"),
    ] {
        ids.push(spool.enqueue(entry(name, key)).await.unwrap().id());
    }
    let handed_out = spool.next_batch(1).await.unwrap();
    assert!(spool.set_aside(ids[1], "no".to_owned()).await.unwrap());
    let wanted = |entry: &Entry| entry.payload.starts_with(b"payload of mina");
    let found = spool.find(tenant("acme"), wanted).await.unwrap();
    assert_eq!(found.len(), 3);
    // Another tenant's name does not open the door to these.
    let none = spool.forget(tenant("other"), found.clone()).await.unwrap();
    assert_eq!((none.pending, none.set_aside), (0, 0));
    let gone = spool.forget(tenant("acme"), found).await.unwrap();
    assert_eq!(gone.pending + gone.set_aside, 3);
    let left = spool.stats();
    assert_eq!((left.pending.entries, left.set_aside.entries), (2, 0));
    // Who had taken one of them finds nothing to settle.
    assert_eq!((handed_out.len(), handed_out[0].id), (1, ids[0]));
    assert_eq!(spool.ack(vec![ids[0]]).await.unwrap(), 0);
    spool.close().await.unwrap();
    let reopened = fixture.open().await;
    assert!(
        reopened
            .find(tenant("acme"), wanted)
            .await
            .unwrap()
            .is_empty()
    );
}
