//! Cases of turns that wait for a scan (R-102, T-45).

use throughline_domain::{Clock, Json, TenantId, TurnId, UserId};

use super::sample::{DAY, acme_and_mina, latest, page, said, store, store_one};
use super::together::together;
use super::{RedactionSubject, turn};
use crate::{Backlog, Due, MaskedContent, RecentQuery, Redaction, RedactionState, Seen};

const VERSION: u32 = 7;

fn found(version: u32) -> Redaction {
    Redaction::redacted(version, Json::from_stored("{\"found\":true}"))
}

async fn due(subject: &dyn RedactionSubject, tenant: &TenantId) -> Vec<Due> {
    let due = subject.queue().due(tenant, VERSION, 100, &[]).await;
    due.expect("reads")
}

fn ids(due: &[Due]) -> Vec<TurnId> {
    due.iter().map(|due| due.turn.id).collect()
}

async fn settle(
    subject: &dyn RedactionSubject,
    tenant: &TenantId,
    due: &Due,
    redaction: Redaction,
) -> bool {
    let settlement = due.settled(redaction);
    let written = subject.queue().settle(tenant, &[settlement]).await;
    written.expect("answers") == [due.turn.id]
}

/// One tenant with its user, and turns stored pending under the keys given.
async fn waiting(subject: &dyn RedactionSubject, keys: &[&str]) -> (TenantId, UserId) {
    let (acme, mina) = acme_and_mina(subject).await;
    for key in keys {
        store_one(subject, &acme, turn(mina, key).saying(key).pending()).await;
        subject.clock().advance(DAY / 24);
    }
    (acme, mina)
}

/// Pending turns come first, then what an older version looked at; what the present one looked at is
/// done.
pub async fn pending_and_outdated_turns_are_due(subject: &dyn RedactionSubject) {
    let (acme, mina) = waiting(subject, &["pending"]).await;
    let turns = vec![
        turn(mina, "older").saying("older").build(),
        turn(mina, "now")
            .saying("now")
            .pending()
            .with_redaction(found(VERSION)),
        turn(mina, "later").saying("later").pending(),
    ];
    store(subject, &acme, turns).await;
    let due = due(subject, &acme).await;
    let words: Vec<&str> = due
        .iter()
        .map(|due| due.turn.user_message.as_str())
        .collect();
    assert_eq!(words[2..], ["older"]);
    assert!(
        words[..2].contains(&"pending") && words[..2].contains(&"later"),
        "{words:?}"
    );
    assert_eq!(
        due[2].seen(),
        Seen {
            state: RedactionState::Clean,
            detector_version: Some(1),
            failures: 0
        }
    );
    let named = subject
        .queue()
        .due(&acme, VERSION, 100, &ids(&due[..2]))
        .await;
    assert_eq!(ids(&named.expect("reads")), ids(&due[2..]));
    let some = subject.queue().due(&acme, VERSION, 1, &[]).await;
    assert_eq!(some.expect("reads").len(), 1);
}

/// What was stored masked cannot be looked through again.
pub async fn a_turn_stored_masked_is_never_due(subject: &dyn RedactionSubject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let masked = MaskedContent {
        user_message: "[EMAIL]".to_owned(),
        assistant_answer: String::new(),
        tool_calls: None,
        metadata: Json::empty_object(),
    };
    let masked = turn(mina, "1")
        .pending()
        .with_masked_content(masked, found(1));
    store_one(subject, &acme, masked).await;
    assert_eq!(due(subject, &acme).await, []);
    let redacted = subject.queue().redacted(&acme, None, 10).await;
    assert_eq!(redacted.expect("reads"), []);
}

/// a settled turn is readable in the state it was given, and no longer counted as pending.
pub async fn a_settled_turn_can_be_read(subject: &dyn RedactionSubject) {
    let (acme, mina) = waiting(subject, &["clean", "found"]).await;
    let both = due(subject, &acme).await;
    assert!(settle(subject, &acme, &both[0], Redaction::clean(VERSION)).await);
    assert!(settle(subject, &acme, &both[1], found(VERSION)).await);
    let read = page(subject, &acme, mina, &RecentQuery::default()).await;
    assert_eq!(said(&read.turns), ["found", "clean"]);
    assert_eq!(read.pending_excluded, 0);
    assert_eq!(read.turns[0].redaction, found(VERSION));
    assert_eq!(read.turns[1].redaction, Redaction::clean(VERSION));
    assert_eq!(due(subject, &acme).await, []);
    let told = subject
        .memory()
        .history(&acme, &read.turns[0].scope, read_limit())
        .await;
    assert_eq!(said(&told.expect("reads")), ["clean", "found"]);
}

fn read_limit() -> crate::Limit {
    super::sample::limit(100)
}

/// A turn whose findings turn out not to fit goes back among those that wait.
pub async fn a_turn_can_be_sent_back_to_wait(subject: &dyn RedactionSubject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store_one(
        subject,
        &acme,
        turn(mina, "1").pending().with_redaction(found(VERSION)),
    )
    .await;
    let redacted = subject.queue().redacted(&acme, None, 10).await;
    let redacted = redacted.expect("reads");
    assert!(settle(subject, &acme, &redacted[0], Redaction::pending()).await);
    let read = page(subject, &acme, mina, &RecentQuery::default()).await;
    assert_eq!((read.turns.len(), read.pending_excluded), (0, 1));
    assert_eq!(ids(&due(subject, &acme).await), ids(&redacted));
}

/// A result is written over the row as it was seen and never over another result.
pub async fn a_result_never_replaces_one_it_has_not_seen(subject: &dyn RedactionSubject) {
    let (acme, mina) = waiting(subject, &["1"]).await;
    let stale = due(subject, &acme).await.remove(0);
    assert!(settle(subject, &acme, &stale, found(VERSION)).await);
    assert!(!settle(subject, &acme, &stale, Redaction::clean(VERSION)).await);
    assert_eq!(
        latest(subject, &acme, mina).await[0].redaction,
        found(VERSION)
    );
}

/// Of many workers one writes.
pub async fn workers_that_race_settle_a_turn_once(subject: &dyn RedactionSubject) {
    let (acme, mina) = waiting(subject, &["1"]).await;
    let seen = due(subject, &acme).await.remove(0);
    let asked = (0..16).map(|n| {
        let (queue, acme) = (subject.queue(), acme.clone());
        let settlement = seen.settled(found(VERSION + n));
        async move {
            queue
                .settle(&acme, &[settlement])
                .await
                .expect("answers")
                .len()
        }
    });
    let written: usize = together(asked.collect()).await.into_iter().sum();
    assert_eq!(written, 1);
    assert_eq!(latest(subject, &acme, mina).await.len(), 1);
}

/// T-45: failures are counted where every replica sees them; the turn stays pending meanwhile.
pub async fn failures_are_counted_and_the_turn_stays_pending(subject: &dyn RedactionSubject) {
    let (acme, mina) = waiting(subject, &["1"]).await;
    for failures in 1..=3 {
        let seen = due(subject, &acme).await.remove(0);
        let mut failed = seen.settled(Redaction::pending());
        failed.failures = failures;
        let twice = [failed.clone(), failed];
        for (written, failed) in [(1, &twice[0]), (0, &twice[1])] {
            let answer = subject
                .queue()
                .settle(&acme, std::slice::from_ref(failed))
                .await;
            assert_eq!(answer.expect("answers").len(), written);
        }
        assert_eq!(due(subject, &acme).await[0].failures, failures);
    }
    assert_eq!(latest(subject, &acme, mina).await, []);
}

/// A turn deleted while it was scanned stays deleted.
pub async fn an_unknown_turn_is_not_settled(subject: &dyn RedactionSubject) {
    let (acme, _) = waiting(subject, &["1"]).await;
    let mut seen = due(subject, &acme).await.remove(0);
    let other = subject.tenant("acme-corp", 90).await;
    assert!(!settle(subject, &other, &seen, found(VERSION)).await);
    seen.turn.id = TurnId::from_u128(1);
    assert!(!settle(subject, &acme, &seen, found(VERSION)).await);
    let nobody = TenantId::parse("nobody").expect("a plain name");
    assert_eq!(due(subject, &nobody).await, []);
}

/// What a narrowing goes through: the redacted turns, page by page.
pub async fn redacted_turns_are_walked_in_the_order_of_their_ids(subject: &dyn RedactionSubject) {
    let (acme, mina) = acme_and_mina(subject).await;
    for n in 0..5 {
        let redacted = turn(mina, &format!("r{n}"))
            .pending()
            .with_redaction(found(VERSION));
        store_one(subject, &acme, redacted).await;
        store_one(subject, &acme, turn(mina, &format!("c{n}")).build()).await;
        subject.clock().advance(DAY / 24);
    }
    let (mut after, mut walked) = (None, Vec::new());
    loop {
        let page = subject
            .queue()
            .redacted(&acme, after, 2)
            .await
            .expect("reads");
        let Some(last) = page.last() else { break };
        after = Some(last.turn.id);
        walked.extend(ids(&page));
    }
    assert_eq!(walked.len(), 5);
    assert!(walked.is_sorted());
}

/// Tenants with something due, in order; the others cost the job nothing.
pub async fn only_tenants_with_something_due_are_named(subject: &dyn RedactionSubject) {
    let (acme, _) = waiting(subject, &["1"]).await;
    let done = subject.tenant("done", 90).await;
    let user = subject.user(&done).await;
    store_one(
        subject,
        &done,
        turn(user, "1").pending().with_redaction(found(VERSION)),
    )
    .await;
    let older = subject.tenant("older", 90).await;
    let user = subject.user(&older).await;
    store_one(subject, &older, turn(user, "1").build()).await;
    subject.tenant("empty", 90).await;
    let named = async |after: Option<&TenantId>, limit| {
        let named = subject.queue().tenants_due(VERSION, after, limit).await;
        named.expect("reads")
    };
    assert_eq!(named(None, 10).await, [acme.clone(), older.clone()]);
    assert_eq!(named(None, 1).await, std::slice::from_ref(&acme));
    assert_eq!(named(Some(&acme), 10).await, [older]);
}

/// T-45: how much waits, and since when: by the time it was stored, not the time it was said.
pub async fn the_backlog_counts_pending_turns_and_their_age(subject: &dyn RedactionSubject) {
    let backlog = async || subject.queue().backlog().await.expect("reads");
    assert_eq!(backlog().await, Backlog::default());
    let begun = subject.clock().now();
    let (acme, mina) = waiting(subject, &["1", "2"]).await;
    let late = turn(mina, "3").at(begun.minus(DAY)).pending();
    store_one(subject, &acme, late).await;
    store_one(subject, &acme, turn(mina, "4").build()).await;
    assert_eq!(
        backlog().await,
        Backlog {
            pending: 3,
            oldest: Some(begun)
        }
    );
    let first = due(subject, &acme).await.remove(0);
    assert!(settle(subject, &acme, &first, found(VERSION)).await);
    let left = backlog().await;
    assert_eq!((left.pending, left.oldest), (2, Some(begun.plus(DAY / 24))));
}
