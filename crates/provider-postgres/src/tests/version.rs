//! A person's version moves with whatever a read shows of them (docs/adr/0042).

use std::time::Duration;

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    Chunk, ConversationMemory as _, RecentQuery, Redaction, RedactionQueue as _, Restamp,
    Retention as _,
};
use throughline_domain::{Actor, UserId};
use throughline_platform_identity::{
    ChannelUser, MergeSource, PlatformIdentity as _, PlatformKind,
};

use super::scratch::Scratch;

fn version(scratch: &Scratch, user: UserId) -> u64 {
    let id = uuid::Uuid::from_u128(user.as_u128());
    let sql = format!("select version from users where user_id = '{id}';");
    scratch.database.psql(&sql).unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn a_settled_scan_raises_the_version_of_its_person_alone() {
    let scratch = Scratch::new().await;
    let acme = scratch.tenant("acme", 90).await;
    let (mina, noor) = (scratch.user(&acme).await, scratch.user(&acme).await);
    for user in [mina, noor] {
        for key in ["a", "b"] {
            let key = format!("{user} {key}");
            let waiting = turn(user, &key).pending();
            scratch.store.append(&acme, waiting).await.unwrap();
        }
    }
    let before = (version(&scratch, mina), version(&scratch, noor));
    let due = scratch.store.due(&acme, 1, 10, &[]).await.unwrap();
    let minas = due.iter().filter(|due| due.turn.user_id == mina);
    let settlements: Vec<_> = minas.map(|due| due.settled(Redaction::clean(1))).collect();
    let written = scratch.store.settle(&acme, &settlements).await.unwrap();
    assert_eq!(written.len(), 2);
    let after = (version(&scratch, mina), version(&scratch, noor));
    assert_eq!(after, (before.0 + 1, before.1));
    // A result that comes too late changes nothing, the version neither.
    let late = scratch.store.settle(&acme, &settlements).await.unwrap();
    assert_eq!(late, []);
    assert_eq!(version(&scratch, mina), after.0);
}

#[tokio::test]
async fn a_moved_end_raises_the_version_of_its_person() {
    let scratch = Scratch::new().await;
    let acme = scratch.tenant("acme", 90).await;
    let mina = scratch.user(&acme).await;
    let stored = turn(mina, "a").build();
    scratch.store.append(&acme, stored).await.unwrap();
    let before = version(&scratch, mina);
    let week = Restamp {
        ttl: Duration::from_hours(7 * 24),
        extend: false,
    };
    let chunk = Chunk::default();
    scratch.store.restamp(&acme, week, chunk).await.unwrap();
    assert_eq!(version(&scratch, mina), before + 1);
    scratch.store.restamp(&acme, week, chunk).await.unwrap();
    assert_eq!(version(&scratch, mina), before + 1);
}

/// T-05: what came through it leaves the person's page at that moment, with nothing written to a turn.
#[tokio::test]
async fn a_channel_user_who_turns_out_to_be_a_group_raises_the_version_once() {
    let scratch = Scratch::new().await;
    let acme = scratch.tenant("acme", 90).await;
    let group = ChannelUser::new(PlatformKind::TelegramChat, "-100").unwrap();
    let user = scratch.store.resolve(&acme, &group).await.unwrap().user_id;
    let before = version(&scratch, user);
    let shared = group.with_shared(true);
    scratch.store.resolve(&acme, &shared).await.unwrap();
    assert_eq!(version(&scratch, user), before + 1);
    scratch.store.resolve(&acme, &shared).await.unwrap();
    assert_eq!(version(&scratch, user), before + 1);
}

/// The page and what it is compared with say the same of one person, before and after a merge.
#[tokio::test]
async fn a_page_bears_the_version_that_is_asked_for() {
    let scratch = Scratch::new().await;
    let acme = scratch.tenant("acme", 90).await;
    let (mina, noor) = (scratch.user(&acme).await, scratch.user(&acme).await);
    for (user, key) in [(mina, "a"), (noor, "b")] {
        let said = turn(user, key).build();
        scratch.store.append(&acme, said).await.unwrap();
    }
    let both = async |user| {
        let query = RecentQuery::default();
        let page = scratch.store.recent(&acme, user, &query).await.unwrap();
        let asked = scratch.store.read_version(&acme, user).await.unwrap();
        let version = asked.expect("a known person has one");
        assert_eq!(page.fresh.expect("all is settled").version, version);
        version
    };
    let apart = (both(mina).await, both(noor).await);
    assert_ne!(apart.0.user, apart.1.user);
    let alice = Actor::parse("alice").unwrap();
    let source = MergeSource::Manual;
    let merged = scratch.store.merge(&acme, mina, noor, source, &alice);
    merged.await.unwrap();
    let together = (both(mina).await, both(noor).await);
    assert_eq!(together.0, together.1);
    assert_ne!(together.0, apart.0);
}
