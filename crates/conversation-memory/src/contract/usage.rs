//! Cases of `usage`: counters that agree with the rows (R-070, T-58, failures.md 8).

use serde_json::json;

use throughline_domain::{TenantId, UserId};

use super::sample::{acme_and_mina, all, bytes, nobody, store, usage};
use super::together::together;
use super::{Subject, turn};
use crate::{AppendError, AppendOutcome, NewTurn, RejectReason, Turn, Usage};

/// R-065, T-59: bytes are UTF-8 octets of both texts, tool calls and metadata; `{}` counts nothing.
pub async fn usage_counts_every_stored_byte(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let mut expected = Usage::default();
    for (new, byte_count) in [
        (turn(mina, "a").saying("Zürich 🚆"), 12),
        (turn(mina, "b").saying("").answered("é"), 2),
        (turn(mina, "c").saying("x").tools(json!([])), 3),
        (turn(mina, "d").saying("x").metadata(json!({})), 1),
        (turn(mina, "e").saying("x").metadata(json!({"a": "é"})), 11),
    ] {
        store(subject, &acme, vec![new.build()]).await;
        expected.turn_count += 1;
        expected.byte_count += byte_count;
        assert_eq!(usage(subject, &acme, mina).await, expected);
    }
}

/// A user of whom nothing is stored, known or not, has used nothing.
pub async fn usage_of_nobody_is_zero(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    for user in [mina, nobody()] {
        assert_eq!(usage(subject, &acme, user).await, Usage::default());
    }
}

const TASKS: u64 = 8;
const STEPS: u64 = 40;
const KEYS: u64 = 90;

/// The next number of a repeatable sequence (Knuth's MMIX constants).
fn next(state: &mut u64, below: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// A turn under one of few keys. Mostly the turn that belongs to the key, sometimes with other words
/// or of another person.
fn random_turn(users: &[UserId], state: &mut u64) -> NewTurn {
    let key = next(state, KEYS);
    let odd = next(state, 8);
    let owner = usize::try_from(key + u64::from(odd == 0)).expect("a small number") % users.len();
    let text = "é".repeat(usize::try_from(key + u64::from(odd == 1)).expect("a small number") + 1);
    let new = turn(users[owner], &format!("k{key}")).saying(&text);
    match key % 3 {
        0 => new.answered(&text).build(),
        1 => new.metadata(json!({"key": key})).build(),
        _ => new.tools(json!([key])).build(),
    }
}

async fn hammer(
    memory: std::sync::Arc<dyn crate::ConversationMemory>,
    tenant: TenantId,
    users: Vec<UserId>,
    seed: u64,
) -> u64 {
    let mut state = seed;
    let mut stored = 0;
    for _ in 0..STEPS {
        let size = 1 + next(&mut state, 4);
        let batch = (0..size).map(|_| random_turn(&users, &mut state)).collect();
        for answer in memory.append_batch(&tenant, batch).await {
            match answer {
                Ok(appended) => stored += u64::from(appended.outcome == AppendOutcome::Stored),
                Err(AppendError::Rejected {
                    reason: RejectReason::IdempotencyMismatch,
                    ..
                }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    stored
}

/// after any interleaving of new turns, retries and conflicts the counters are the count and
/// the sum of what is there.
pub async fn usage_agrees_with_the_rows_after_a_random_flood(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let users = vec![mina, subject.user(&acme).await, subject.user(&acme).await];
    let tasks = (1..=TASKS)
        .map(|seed| hammer(subject.memory(), acme.clone(), users.clone(), seed))
        .collect();
    let stored: u64 = together(tasks).await.into_iter().sum();
    let mut rows = 0;
    for user in users {
        let turns: Vec<Turn> = all(subject, &acme, user).await;
        let expected = Usage {
            turn_count: turns.len() as u64,
            byte_count: turns.iter().map(bytes).sum(),
        };
        assert_eq!(usage(subject, &acme, user).await, expected);
        assert!(expected.turn_count > 0);
        rows += expected.turn_count;
    }
    assert_eq!(rows, stored);
}
