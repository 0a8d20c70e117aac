//! The user's row as a fence: merged, forgotten, locked; and keys that must not come back.

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ConversationMemory as _, RecentQuery, RejectReason,
};
use throughline_domain::UserId;
use throughline_platform_identity::PlatformIdentity as _;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::scratch::{Scratch, prepared};

fn sql_id(user: UserId) -> Uuid {
    Uuid::from_u128(user.as_u128())
}

/// What a merge does to the users and the turns (D-16).
fn merge(scratch: &Scratch, from: UserId, into: UserId) {
    let (from, into) = (sql_id(from), sql_id(into));
    let sql = format!(
        "begin; \
         update users set status = 'merged', merged_into = '{into}' where user_id = '{from}'; \
         update users u set turn_count = u.turn_count + m.turn_count, \
             byte_count = u.byte_count + m.byte_count \
         from users m where u.user_id = '{into}' and m.user_id = '{from}'; \
         update users set turn_count = 0, byte_count = 0 where user_id = '{from}'; \
         update platform_identities set user_id = '{into}' where user_id = '{from}'; \
         update cross_channel_messages set user_id = '{into}' where user_id = '{from}'; \
         commit;"
    );
    scratch.database.psql(&sql).unwrap();
}

fn reason(answer: Result<throughline_conversation_memory::Appended, AppendError>) -> RejectReason {
    match answer {
        Err(AppendError::Rejected { reason, .. }) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

/// T-54: a stale id is answered with the survivor, in one batch with the survivor's own turns.
#[tokio::test]
async fn a_merged_id_appends_and_reads_as_its_survivor() {
    let scratch = prepared().await;
    let acme = scratch.acme().await;
    let (old, new) = (scratch.user(&acme).await, scratch.user(&acme).await);
    merge(&scratch, old, new);
    let turns = vec![
        turn(old, "a").build(),
        turn(new, "b").build(),
        turn(old, "c").build(),
    ];
    for answer in scratch.store.append_batch(&acme, turns).await {
        assert_eq!(answer.unwrap().user_id, new);
    }
    for id in [old, new] {
        let page = scratch
            .store
            .recent(&acme, id, &RecentQuery::default())
            .await
            .unwrap();
        assert_eq!(page.turns.len(), 3);
        assert_eq!(scratch.store.usage(&acme, id).await.unwrap().turn_count, 3);
        let user = scratch.store.user(&acme, id).await.unwrap().unwrap();
        assert_eq!((user.user_id, user.merged_user_ids), (new, vec![old]));
    }
}

/// A retry across a merge is the same turn, whichever of the two ids it names; a third one's is not.
#[tokio::test]
async fn a_retry_after_a_merge_is_a_duplicate() {
    let scratch = prepared().await;
    let acme = scratch.acme().await;
    let (old, new) = (scratch.user(&acme).await, scratch.user(&acme).await);
    let third = scratch.user(&acme).await;
    let first = scratch
        .store
        .append(&acme, turn(old, "k").build())
        .await
        .unwrap();
    merge(&scratch, old, new);
    for id in [old, new] {
        let again = scratch
            .store
            .append(&acme, turn(id, "k").build())
            .await
            .unwrap();
        assert_eq!(
            (again.outcome, again.turn_id),
            (AppendOutcome::Duplicate, first.turn_id)
        );
        assert_eq!(again.user_id, new);
    }
    let other = scratch.store.append(&acme, turn(third, "k").build()).await;
    assert_eq!(reason(other), RejectReason::IdempotencyMismatch);
}

/// A circle, which no merge ever writes, ends in a refusal, not in a loop.
#[tokio::test]
async fn a_circle_of_merges_is_refused() {
    let scratch = prepared().await;
    let acme = scratch.acme().await;
    let (a, b) = (scratch.user(&acme).await, scratch.user(&acme).await);
    let (a_id, b_id) = (sql_id(a), sql_id(b));
    let circle = format!(
        "update users set status = 'merged', merged_into = case user_id \
         when '{a_id}' then '{b_id}'::uuid else '{a_id}'::uuid end;"
    );
    scratch.database.psql(&circle).unwrap();
    let answer = scratch.store.append(&acme, turn(a, "k").build()).await;
    assert_eq!(reason(answer), RejectReason::UnknownUser);
}

/// T-57, failures.md 15: neither a forgotten user's turn nor a deleted one comes back.
#[tokio::test]
async fn what_was_forgotten_or_deleted_does_not_come_back() {
    let scratch = prepared().await;
    let acme = scratch.acme().await;
    let (mina, noor) = (scratch.user(&acme).await, scratch.user(&acme).await);
    let mina_id = sql_id(mina);
    let forget = format!("update users set status = 'forgotten' where user_id = '{mina_id}';");
    scratch.database.psql(&forget).unwrap();
    let answer = scratch.store.append(&acme, turn(mina, "k").build()).await;
    assert_eq!(reason(answer), RejectReason::Gone);
    // The scratch clock stands in November 2023.
    let tombstones = "insert into idempotency_tombstones values \
                      ('acme', sha256('acme:young'), 'ttl', '2024-01-01'), \
                      ('acme', sha256('acme:old'), 'ttl', '2023-01-01');";
    scratch.database.psql(tombstones).unwrap();
    let turns = vec![turn(noor, "young").build(), turn(noor, "old").build()];
    let mut answers = scratch.store.append_batch(&acme, turns).await;
    assert!(answers.pop().unwrap().is_ok());
    assert_eq!(reason(answers.pop().unwrap()), RejectReason::Gone);
}

/// Design 6, D-05: an append that meets an erasure waits for it and is then refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_waits_for_an_erasure_and_is_refused() {
    let scratch = std::sync::Arc::new(prepared().await);
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let (eraser, connection) =
        tokio_postgres::connect(scratch.database.url(), tokio_postgres::NoTls)
            .await
            .unwrap();
    let tasks = TaskTracker::new();
    tasks.spawn(connection);
    let id = sql_id(mina);
    let lock = format!("begin; select from users where user_id = '{id}' for update;");
    eraser.batch_execute(&lock).await.unwrap();
    let append = {
        let (scratch, acme) = (scratch.clone(), acme.clone());
        tasks.spawn(async move { scratch.store.append(&acme, turn(mina, "k").build()).await })
    };
    let waiting = "select count(*) from pg_stat_activity \
                   where datname = current_database() and wait_event_type = 'Lock';";
    while scratch.database.psql(waiting).unwrap() != "1" {}
    let forget = format!("update users set status = 'forgotten' where user_id = '{id}'; commit;");
    eraser.batch_execute(&forget).await.unwrap();
    assert_eq!(reason(append.await.unwrap()), RejectReason::Gone);
    let rows = scratch
        .database
        .psql("select count(*) from cross_channel_messages;")
        .unwrap();
    assert_eq!(rows, "0");
}
