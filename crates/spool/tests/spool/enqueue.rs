//! Taking entries in: idempotency, grouping, cancellation, closing, the key.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use throughline_spool::{NewEntry, OpenError, Queued, SpoolConfig, SpoolError};

use crate::support::{Fixture, entry, key, keys, tenant};

#[tokio::test]
async fn an_entry_comes_out_as_it_went_in() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let user = throughline_domain::UserId::from_u128(77);
    let new = NewEntry {
        user: Some(user),
        order: Some("chat".to_owned()),
        ..entry("acme", "k")
    };
    let queued = spool.enqueue(new.clone()).await.unwrap();
    let batch = spool.next_batch(10).await.unwrap();
    assert_eq!(batch.len(), 1);
    let out = &batch[0];
    assert_eq!(queued, Queued::New(out.id));
    assert_eq!(
        (&out.tenant, out.user, &out.key, &out.order),
        (&new.tenant, new.user, &new.key, &new.order)
    );
    assert_eq!((&out.payload, out.attempts), (&new.payload, 0));
}

#[tokio::test]
async fn the_same_key_and_content_is_the_same_entry_also_after_reopening() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let first = spool.enqueue(entry("acme", "k")).await.unwrap();
    assert_eq!(
        spool.enqueue(entry("acme", "k")).await.unwrap(),
        Queued::Again(first.id())
    );
    spool.close().await.unwrap();
    let spool = fixture.open().await;
    assert_eq!(
        spool.enqueue(entry("acme", "k")).await.unwrap(),
        Queued::Again(first.id())
    );
    assert_eq!(spool.stats().pending.entries, 1);
    assert!(matches!(
        spool.enqueue(entry("other", "k")).await.unwrap(),
        Queued::New(_)
    ));
}

#[tokio::test]
async fn the_same_key_with_other_content_is_a_conflict() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let first = spool.enqueue(entry("acme", "k")).await.unwrap();
    let other = NewEntry {
        payload: b"other".to_vec(),
        ..entry("acme", "k")
    };
    let error = spool.enqueue(other).await.unwrap_err();
    assert!(matches!(error, SpoolError::KeyConflict(id) if id == first.id()));
}

#[tokio::test]
async fn a_given_digest_decides_whether_contents_are_equal() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let with = |payload: &[u8], digest| NewEntry {
        payload: payload.to_vec(),
        digest: Some([digest; 32]),
        ..entry("acme", "k")
    };
    let first = spool.enqueue(with(b"one", 1)).await.unwrap();
    assert_eq!(
        spool.enqueue(with(b"two", 1)).await.unwrap(),
        Queued::Again(first.id())
    );
    assert!(spool.enqueue(with(b"one", 2)).await.is_err());
}

#[tokio::test]
async fn an_id_is_never_used_twice_also_after_reopening() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let first = spool.enqueue(entry("acme", "a")).await.unwrap().id();
    spool.ack(vec![first]).await.unwrap();
    spool.close().await.unwrap();
    let spool = fixture.open().await;
    assert!(spool.enqueue(entry("acme", "a")).await.unwrap().id() > first);
}

/// The interval is an hour: the test ends only because the number ends the gathering.
#[tokio::test]
async fn as_many_as_the_limit_share_one_sync() {
    let mut fixture = Fixture::new();
    fixture.config.flush_entries = 64;
    fixture.config.flush_interval = Duration::from_hours(1);
    let spool = fixture.open().await;
    spool
        .enqueue(entry("acme", "the first one waits for nobody"))
        .await
        .unwrap();
    let before = spool.stats().commits_total;
    let entries = (0..64).map(|n| spool.enqueue(entry("acme", &n.to_string())));
    assert!(join_all(entries).await.iter().all(Result::is_ok));
    assert_eq!(spool.stats().commits_total - before, 1);
}

/// The interval is an hour: the test ends only because another call ends the gathering.
#[tokio::test]
async fn a_reader_does_not_wait_for_the_gathering_to_end() {
    let mut fixture = Fixture::new();
    fixture.config.flush_interval = Duration::from_hours(1);
    let spool = fixture.open().await;
    spool.enqueue(entry("acme", "a")).await.unwrap();
    let (second, batch) =
        tokio::join!(biased; spool.enqueue(entry("acme", "b")), spool.next_batch(10));
    second.unwrap();
    assert_eq!(keys(&batch.unwrap()), ["a", "b"]);
}

#[tokio::test]
async fn a_caller_that_stops_waiting_harms_nobody() {
    let mut fixture = Fixture::new();
    fixture.config.flush_interval = Duration::from_hours(1);
    let spool = fixture.open().await;
    spool.enqueue(entry("acme", "a")).await.unwrap();
    for n in 0..300 {
        let mut call = Box::pin(spool.enqueue(entry("acme", &format!("gone {n}"))));
        assert!((&mut call).now_or_never().is_none());
    }
    let mut taken = Box::pin(spool.next_batch(10));
    assert!((&mut taken).now_or_never().is_none());
    drop(taken);
    // Neither its entries nor its lease stand in the way.
    let batch = spool.next_batch(10).await.unwrap();
    assert_eq!(batch.first().map(|entry| entry.key.as_str()), Some("a"));
    let (second, _) = tokio::join!(
        biased;
        spool.enqueue(entry("acme", "b")),
        spool.next_batch(1)
    );
    second.unwrap();
    assert_eq!(spool.stats().pending.entries, 2);
}

#[tokio::test]
async fn closing_serves_what_was_called_before_and_refuses_what_comes_after() {
    let mut fixture = Fixture::new();
    fixture.config.flush_interval = Duration::from_hours(1);
    let spool = fixture.open().await;
    spool.enqueue(entry("acme", "a")).await.unwrap();
    let early = join_all((0..10).map(|n| spool.enqueue(entry("acme", &format!("early {n}")))));
    let (early, closed) = tokio::join!(biased; early, spool.close());
    closed.unwrap();
    assert!(early.iter().all(Result::is_ok));
    assert!(matches!(
        spool.enqueue(entry("acme", "late")).await,
        Err(SpoolError::Closed)
    ));
    assert!(matches!(spool.next_batch(1).await, Err(SpoolError::Closed)));
    spool.close().await.unwrap();
    assert_eq!(fixture.open().await.stats().pending.entries, 11);
}

#[tokio::test]
async fn a_file_is_open_once() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    assert!(matches!(
        fixture.try_open(&key(1)).await,
        Err(OpenError::InUse(_))
    ));
    spool.close().await.unwrap();
    fixture.open().await;
}

#[tokio::test]
async fn another_key_is_refused_by_name_and_leaves_the_entries_alone() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    spool.enqueue(entry("acme", "k")).await.unwrap();
    spool.close().await.unwrap();
    match fixture.try_open(&key(2)).await.err() {
        Some(OpenError::WrongKey { sealed_with, given }) => {
            assert_eq!((sealed_with, given), (key(1).id(), key(2).id()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        keys(&fixture.open().await.next_batch(1).await.unwrap()),
        ["k"]
    );
}

#[tokio::test]
async fn nothing_said_stands_in_the_file_in_the_clear() {
    let fixture = Fixture::new();
    let spool = fixture.open().await;
    let planted = ["quokka", "wombat", "dingo"];
    let new = NewEntry {
        key: planted[0].repeat(8),
        order: Some(planted[1].repeat(8)),
        payload: planted[2].repeat(2000).into_bytes(),
        ..entry("acme", "")
    };
    let shown = format!("{new:?}");
    let id = spool.enqueue(new).await.unwrap().id();
    spool.set_aside(id, "rejected".to_owned()).await.unwrap();
    let read = spool.read(tenant("acme"), id).await.unwrap().unwrap();
    let shown = shown + &format!("{read:?}");
    spool.close().await.unwrap();
    let file = std::fs::read(fixture.path().join("spool.redb")).unwrap();
    for word in planted {
        assert!(
            !file
                .windows(word.len())
                .any(|window| window == word.as_bytes())
        );
        assert!(!shown.contains(word));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn directory_and_file_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mut fixture = Fixture::with(SpoolConfig::default());
    let outer = std::mem::replace(&mut fixture.directory, tempfile::tempdir().unwrap());
    let inner = outer.path().join("made");
    let spool = throughline_spool::Spool::open(
        &inner,
        fixture.config.clone(),
        &key(1),
        fixture.clock.clone(),
        std::sync::Arc::new(throughline_domain::SystemIds),
    )
    .await
    .unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&inner), mode(&inner.join("spool.redb"))),
        (0o700, 0o600)
    );
    spool.close().await.unwrap();
}
