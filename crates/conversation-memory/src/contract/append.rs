//! Cases of `append`.

use super::{Subject, turn};
use crate::AppendOutcome;

/// failures.md 1: the reply was lost, the caller sends the same turn again.
pub async fn a_retry_returns_the_first_id(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    let memory = subject.memory();
    let first = memory
        .append(&acme, turn(mina, "k1").build())
        .await
        .expect("stored");
    let usage = memory.usage(&acme, mina).await.expect("reads");
    let again = memory
        .append(&acme, turn(mina, "k1").build())
        .await
        .expect("found");
    assert_eq!(first.outcome, AppendOutcome::Stored);
    assert_eq!(again.outcome, AppendOutcome::Duplicate);
    assert_eq!((again.turn_id, again.seq), (first.turn_id, first.seq));
    assert_eq!(memory.usage(&acme, mina).await.expect("reads"), usage);
    assert_eq!((usage.turn_count, usage.byte_count), (1, 5));
}
