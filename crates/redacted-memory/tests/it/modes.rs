//! When a turn is scanned, and what of it is stored.

use std::time::Duration;

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ContentForm, ConversationMemory as _, RawReads as _, RecentQuery,
    RedactionState,
};
use throughline_domain::{Actor, Json};
use throughline_tenancy::RedactionMode;

use crate::stand_in::StandIn;
use crate::subject::{Redacted, deferred, inline};

const TEXT: &str = "write jo@example.com today";

fn persisting() -> Redacted {
    Redacted::new(RedactionMode::Persist, StandIn::new(1))
}

/// R-103's contrast: the default mode closes its window.
#[tokio::test]
async fn inline_a_turn_can_be_read_back_at_once() {
    let subject = inline().await;
    let (acme, mina) = subject.acme_and_mina().await;
    let found = subject
        .append(&acme, turn(mina, "1").saying(TEXT).pending())
        .await;
    let clean = subject
        .append(&acme, turn(mina, "2").saying("hello").pending())
        .await;
    assert_eq!(found.redaction_state, RedactionState::Redacted);
    assert_eq!(clean.redaction_state, RedactionState::Clean);
    assert_eq!(subject.page(&acme, mina).await.turns.len(), 2);
}

//
#[tokio::test]
async fn deferred_a_turn_is_read_by_nobody_until_the_sweep_was_there() {
    let subject = deferred().await;
    let (acme, mina) = subject.acme_and_mina().await;
    let stored = subject
        .append(&acme, turn(mina, "1").saying(TEXT).pending())
        .await;
    assert_eq!(stored.redaction_state, RedactionState::Pending);
    let page = subject.page(&acme, mina).await;
    assert_eq!((page.turns.len(), page.pending_excluded), (0, 1));
    subject.sweep().scan_pending(None, &|| false).await.unwrap();
    let page = subject.page(&acme, mina).await;
    assert_eq!(page.turns[0].user_message, "write [EMAIL] today");
    assert_eq!(page.pending_excluded, 0);
}

/// R-103, T-30: the original is nowhere, a raw read says so, and counts stand in the place of offsets.
#[tokio::test]
async fn persisted_masks_are_all_there_is() {
    let subject = persisting();
    let (acme, mina) = subject.acme_and_mina().await;
    subject
        .append(&acme, turn(mina, "1").saying(TEXT).pending())
        .await;
    let (olga, query) = (Actor::parse("olga").unwrap(), RecentQuery::default());
    let raw = subject
        .store
        .recent_raw(&acme, mina, &query, &olga)
        .await
        .unwrap();
    let stored = &raw.turns[0];
    assert_eq!(stored.user_message, "write [EMAIL] today");
    assert_eq!(stored.form, ContentForm::Masked);
    assert_eq!(stored.redaction.state(), RedactionState::Redacted);
    let findings = stored.redaction.findings().map(Json::as_str).unwrap();
    assert!(findings.contains("\"counts\":{\"EMAIL\":1}"), "{findings}");
    assert!(!findings.contains("start"), "{findings}");
    let page = subject.page(&acme, mina).await;
    assert_eq!(page.turns[0].user_message, "write [EMAIL] today");
}

#[tokio::test]
async fn a_retry_of_a_persisted_turn_is_a_duplicate() {
    let subject = persisting();
    let (acme, mina) = subject.acme_and_mina().await;
    let first = subject
        .append(&acme, turn(mina, "1").saying(TEXT).pending())
        .await;
    let again = subject
        .append(&acme, turn(mina, "1").saying(TEXT).pending())
        .await;
    assert_eq!(
        (again.outcome, again.turn_id),
        (AppendOutcome::Duplicate, first.turn_id)
    );
    let other = "write mo@example.com today";
    let other = subject
        .memory
        .append(&acme, turn(mina, "1").saying(other).pending())
        .await;
    assert!(
        matches!(other, Err(AppendError::Rejected { .. })),
        "{other:?}"
    );
}

// T-30: never plain.
#[tokio::test]
async fn persisting_a_turn_that_cannot_be_scanned_stores_nothing() {
    let subject = persisting();
    let (acme, mina) = subject.acme_and_mina().await;
    let turns = vec![
        turn(mina, "1").saying("hello").pending(),
        turn(mina, "2").saying("crash").pending(),
        turn(mina, "3").saying(TEXT).pending(),
    ];
    let answers = subject.memory.append_batch(&acme, turns).await;
    assert!(answers[0].is_ok() && answers[2].is_ok());
    match &answers[1] {
        Err(AppendError::Transport { key, .. }) => assert_eq!(key.as_str(), "2"),
        other => panic!("{other:?}"),
    }
    let usage = subject.memory.usage(&acme, mina).await.unwrap();
    assert_eq!(usage.turn_count, 2);
}

#[tokio::test]
async fn a_detector_that_panics_leaves_its_turn_pending_and_the_others_scanned() {
    let subject = Redacted::new(RedactionMode::Inline, StandIn::new(1));
    let (acme, mina) = subject.acme_and_mina().await;
    let turns = vec![
        turn(mina, "1").saying("crash jo@example.com").pending(),
        turn(mina, "2").saying(TEXT).pending(),
    ];
    let answers = subject.memory.append_batch(&acme, turns).await;
    let states = answers
        .into_iter()
        .map(|answer| answer.unwrap().redaction_state);
    let states: Vec<_> = states.collect();
    assert_eq!(states, [RedactionState::Pending, RedactionState::Redacted]);
    let page = subject.page(&acme, mina).await;
    assert_eq!((page.turns.len(), page.pending_excluded), (1, 1));
    assert_eq!(subject.metric("ccm_redaction_failures_total"), 1.0);
}

/// A large turn is scanned on a thread of its own, and nobody waits for it longer than the patience.
#[tokio::test]
async fn a_slow_detector_leaves_its_turn_pending() {
    let detector = StandIn::new(1);
    let gate = detector.gate.clone();
    let shut = gate.lock().await;
    let subject = Redacted::new(RedactionMode::Inline, detector);
    let impatient = subject
        .scanner
        .clone()
        .patient_for(Duration::from_millis(1));
    let subject = subject.scanning_with(impatient);
    let (acme, mina) = subject.acme_and_mina().await;
    let long = format!("wait {}", "x ".repeat(40_000));
    let stored = subject
        .append(&acme, turn(mina, "1").saying(&long).pending())
        .await;
    assert_eq!(stored.redaction_state, RedactionState::Pending);
    assert_eq!(subject.page(&acme, mina).await.turns, []);
    drop(shut);
}
