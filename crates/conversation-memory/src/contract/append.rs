//! Cases of `append`: keys, retries and refusals.

use std::time::Duration;

use serde_json::json;

use super::sample::{DAY, acme_and_mina, latest, nobody, now, refusal, store_one, told, usage};
use super::{Subject, TurnBuilder, turn};
use crate::{AppendOutcome, Appended, RejectReason, Usage};

/// failures.md 1: the reply was lost, the caller sends the same turn again.
pub async fn a_retry_returns_the_first_id(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let memory = subject.memory();
    let first = store_one(subject, &acme, turn(mina, "k1").build()).await;
    let before = usage(subject, &acme, mina).await;
    let again = memory.append(&acme, turn(mina, "k1").build()).await;
    let expected = Appended {
        outcome: AppendOutcome::Duplicate,
        ..first
    };
    assert_eq!(again.expect("found"), expected);
    assert_eq!(usage(subject, &acme, mina).await, before);
    assert_eq!((before.turn_count, before.byte_count), (1, 5));
    assert_eq!(latest(subject, &acme, mina).await.len(), 1);
}

/// A retry may come much later and is still the same turn, said when it was first said.
pub async fn a_late_retry_does_not_move_the_turn(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store_one(subject, &acme, turn(mina, "k1").build()).await;
    let before = latest(subject, &acme, mina).await;
    subject.clock().advance(Duration::from_hours(5));
    let again = subject
        .memory()
        .append(&acme, turn(mina, "k1").build())
        .await;
    assert_eq!(again.expect("found").outcome, AppendOutcome::Duplicate);
    assert_eq!(latest(subject, &acme, mina).await, before);
}

/// T-57: a retry that took longer than the tenant keeps turns finds the stored turn, does not store
/// a second one and does not make the first readable again.
pub async fn a_retry_after_the_end_stores_nothing(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    let dated = turn(mina, "k1").at(now(subject)).build();
    let first = store_one(subject, &acme, dated.clone()).await;
    subject.clock().advance(2 * DAY);
    let again = subject.memory().append(&acme, dated).await.expect("found");
    assert_eq!(
        (again.outcome, again.turn_id),
        (AppendOutcome::Duplicate, first.turn_id)
    );
    assert_eq!(latest(subject, &acme, mina).await, []);
    assert_eq!(usage(subject, &acme, mina).await.turn_count, 1);
}

/// A retry written with other white space or key order in its JSON is the same turn.
pub async fn a_retry_may_write_its_json_differently(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let with = |text: &str| {
        let metadata = serde_json::from_str(text).expect("good JSON");
        turn(mina, "k1").metadata(metadata).build()
    };
    let first = store_one(subject, &acme, with(r#"{"a":1,"b":[2]}"#)).await;
    let again = subject
        .memory()
        .append(&acme, with(r#"{ "b": [2], "a": 1 }"#))
        .await;
    let again = again.expect("found");
    assert_eq!(
        (again.outcome, again.turn_id),
        (AppendOutcome::Duplicate, first.turn_id)
    );
}

fn original(subject: &dyn Subject, user: throughline_domain::UserId) -> TurnBuilder {
    turn(user, "k1")
        .on("slack-user", "C1")
        .saying("the secret sentinel")
        .answered("noted")
        .canvas("cv-1")
        .at(now(subject))
        .tools(json!([{"name": "search"}]))
        .metadata(json!({"a": 1}))
}

/// T-13, failures.md 2: one key, another turn, in whichever field: refused, and the stored turn, its
/// counters and its scopes stay as they were.
pub async fn a_key_used_for_another_turn_is_refused(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store_one(subject, &acme, original(subject, mina).build()).await;
    let (rows, counted) = (
        latest(subject, &acme, mina).await,
        usage(subject, &acme, mina).await,
    );
    let original = || original(subject, mina);
    for other in [
        original().saying("the secret sentine"),
        original().answered(""),
        original().on("slack-user", "C2"),
        original().on("teams-aad", "C1"),
        original().canvas("cv-2"),
        original().at(now(subject).minus(Duration::from_micros(1))),
        original().tools(json!([{"name": "Search"}])),
        original().tools(json!([])),
        original().metadata(json!({"a": "1"})),
        original().metadata(json!({})),
        turn(mina, "k1").saying("the secret sentinel"),
    ] {
        let other = other.build();
        let (key, scope) = (other.key().clone(), other.scope().clone());
        let refused = refusal(subject.memory().append(&acme, other).await);
        assert_eq!(refused, (key, RejectReason::IdempotencyMismatch));
        let expected = if scope == rows[0].scope {
            &rows[..]
        } else {
            &[]
        };
        assert_eq!(told(subject, &acme, &scope).await, expected);
    }
    assert_eq!(latest(subject, &acme, mina).await, rows);
    assert_eq!(usage(subject, &acme, mina).await, counted);
}

/// failures.md 2: the same key and the same words by another person is no retry.
pub async fn a_key_used_by_another_user_is_refused(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    store_one(subject, &acme, original(subject, mina).build()).await;
    let refused = subject
        .memory()
        .append(&acme, original(subject, noor).build())
        .await;
    assert_eq!(refusal(refused).1, RejectReason::IdempotencyMismatch);
    assert_eq!(latest(subject, &acme, noor).await, []);
    assert_eq!(usage(subject, &acme, noor).await, Usage::default());
    assert_eq!(usage(subject, &acme, mina).await.turn_count, 1);
}

/// failures.md 2, 33: a refusal tells nothing of the stored turn: no word, id or person of it.
pub async fn a_refusal_tells_nothing_of_the_stored_turn(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    let stored = store_one(subject, &acme, original(subject, mina).build()).await;
    let refused = subject
        .memory()
        .append(&acme, turn(noor, "k1").build())
        .await;
    let error = refused.expect_err("another turn under one key");
    let mut printed = format!("{error:?} {error}");
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        printed.push_str(&cause.to_string());
        source = cause.source();
    }
    for secret in [
        "sentinel",
        "cv-1",
        &stored.turn_id.to_string(),
        &mina.to_string(),
    ] {
        assert!(!printed.contains(secret), "{printed:?} tells {secret:?}");
    }
}

/// Keys are opaque: one that differs in case, white space or normal form is another key.
pub async fn keys_that_look_alike_are_different_keys(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let long = "é".repeat(128);
    let keys = [
        "k1",
        "K1",
        " k1",
        "k1 ",
        "k1\n",
        "k%",
        "k_",
        "\\",
        "'",
        "a:b",
        "a",
        "b",
        "jos\u{e9}",
        "jose\u{301}",
        "\u{fffd}",
        &long,
        &long[2..],
    ];
    for key in keys {
        store_one(subject, &acme, turn(mina, key).build()).await;
    }
    for key in keys {
        let again = subject
            .memory()
            .append(&acme, turn(mina, key).build())
            .await;
        assert_eq!(
            again.expect("found").outcome,
            AppendOutcome::Duplicate,
            "{key}"
        );
    }
    assert_eq!(
        usage(subject, &acme, mina).await.turn_count,
        keys.len() as u64
    );
}

/// D-05: a turn of nobody is refused and leaves nothing behind; its key is free afterwards.
pub async fn a_turn_of_an_unknown_user_is_refused(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let strangers = turn(nobody(), "k1").build();
    let scope = strangers.scope().clone();
    let key = strangers.key().clone();
    let refused = refusal(subject.memory().append(&acme, strangers).await);
    assert_eq!(refused, (key, RejectReason::UnknownUser));
    assert_eq!(latest(subject, &acme, nobody()).await, []);
    assert_eq!(told(subject, &acme, &scope).await, []);
    assert_eq!(usage(subject, &acme, nobody()).await, Usage::default());
    store_one(subject, &acme, turn(mina, "k1").build()).await;
}
