//! What is this provider's own about deleting by rule: counters that somebody else spoilt, and plans.

use std::time::Duration;

use throughline_conversation_memory::contract::{Subject, turn};
use throughline_conversation_memory::{
    Chunk, ConversationMemory, Pass, Retention, RetentionError, Usage,
};
use throughline_domain::{TenantId, UserId};

use super::scratch::Scratch;

const DAY: Duration = Duration::from_hours(24);

/// Three turns of five bytes.
async fn three(scratch: &Scratch) -> (TenantId, UserId) {
    let acme = Subject::tenant(scratch, "acme", 1).await;
    let mina = scratch.user(&acme).await;
    for key in ["a", "b", "c"] {
        scratch
            .store
            .append(&acme, turn(mina, key).build())
            .await
            .unwrap();
    }
    (acme, mina)
}

fn spoil(scratch: &Scratch, turns: i64, bytes: i64) {
    let sql = format!("update users set turn_count = {turns}, byte_count = {bytes};");
    scratch.database.psql(&sql).unwrap();
}

// T-71
#[tokio::test]
async fn wrong_counters_are_told_and_mended() {
    let scratch = Scratch::new().await;
    let (acme, mina) = three(&scratch).await;
    spoil(&scratch, 8, 12);
    let found = scratch.store.reconcile(&acme, None, 100).await.unwrap();
    assert_eq!(
        (found.users, found.drifted, found.turns_off, found.bytes_off),
        (1, 1, 5, 3)
    );
    let right = Usage {
        turn_count: 3,
        byte_count: 15,
    };
    assert_eq!(scratch.store.usage(&acme, mina).await.unwrap(), right);
    let again = scratch.store.reconcile(&acme, None, 100).await.unwrap();
    assert_eq!((again.drifted, again.turns_off), (0, 0));
}

/// T-71: a counter that is too low is an error, never quietly zero, and nothing is deleted by it.
#[tokio::test]
async fn a_counter_that_would_fall_below_zero_stops_the_chunk() {
    let scratch = Scratch::new().await;
    let (acme, mina) = three(&scratch).await;
    spoil(&scratch, 1, 15);
    scratch.clock.advance(DAY);
    let sweep = async || {
        let week = 7 * DAY;
        scratch
            .store
            .sweep(&acme, Pass::Ended, Chunk::default(), week)
            .await
    };
    assert!(matches!(sweep().await, Err(RetentionError::Drifted)));
    let left = scratch
        .database
        .psql("select count(*) from cross_channel_messages;");
    assert_eq!(left.unwrap().trim(), "3");
    scratch.store.reconcile(&acme, None, 100).await.unwrap();
    assert_eq!(sweep().await.unwrap().rows, 3);
    assert_eq!(
        scratch.store.usage(&acme, mina).await.unwrap(),
        Usage::default()
    );
}

/// A person whose counters are wrong can still talk: making room is what waits.
#[tokio::test]
async fn an_append_does_not_fail_by_counters_that_are_wrong() {
    let scratch = Scratch::new().await;
    let (acme, mina) = three(&scratch).await;
    // Far over the cap by turns, and with fewer bytes than the oldest two have.
    spoil(&scratch, 20_000, 3);
    scratch
        .store
        .append(&acme, turn(mina, "d").build())
        .await
        .unwrap();
    let usage = scratch.store.usage(&acme, mina).await.unwrap();
    assert_eq!(usage.turn_count, 20_001);
}
