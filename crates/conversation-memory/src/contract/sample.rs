//! Short ways to store and read that the cases share.

use std::time::Duration;

use throughline_domain::{Clock, TenantId, Timestamp, TurnId, UserId};

use super::Subject;
use crate::{
    AppendError, AppendOutcome, Appended, BATCH_TURNS, ChannelKind, ChannelScope, ClientMessageId,
    Limit, NewTurn, Position, RecentPage, RecentQuery, RejectReason, Turn, Usage,
};

/// Three names that a prefix, a glued key or a loose collation would mix up (failures.md 10).
pub(super) const LOOKALIKES: [&str; 3] = ["acme", "acme-corp", "acme_corp"];
pub(super) const DAY: Duration = Duration::from_hours(24);
pub(super) const MICROSECOND: Duration = Duration::from_micros(1);

/// A user id that nobody has.
pub(super) fn nobody() -> UserId {
    UserId::from_u128(0x0193_0000_0000_0000_0000_0000_0000_dead)
}

pub(super) fn kind(word: &str) -> ChannelKind {
    ChannelKind::parse(word).expect("a plain word")
}

pub(super) fn scope(word: &str, id: &str) -> ChannelScope {
    ChannelScope::new(kind(word), id).expect("a plain scope")
}

pub(super) fn limit(turns: u32) -> Limit {
    Limit::new(turns).expect("not zero")
}

/// The tenant `acme`, keeping turns for 90 days, and a user of it.
pub(super) async fn acme_and_mina(subject: &dyn Subject) -> (TenantId, UserId) {
    let acme = subject.tenant("acme", 90).await;
    let mina = subject.user(&acme).await;
    (acme, mina)
}

/// Stores turns that are all new, in order.
pub(super) async fn store(
    subject: &dyn Subject,
    tenant: &TenantId,
    turns: Vec<NewTurn>,
) -> Vec<Appended> {
    let mut stored = Vec::with_capacity(turns.len());
    for chunk in turns.chunks(BATCH_TURNS) {
        for answer in subject.memory().append_batch(tenant, chunk.to_vec()).await {
            let appended = answer.expect("a good turn");
            assert_eq!(appended.outcome, AppendOutcome::Stored);
            stored.push(appended);
        }
    }
    stored
}

/// Stores one new turn.
pub(super) async fn store_one(subject: &dyn Subject, tenant: &TenantId, turn: NewTurn) -> Appended {
    store(subject, tenant, vec![turn]).await.remove(0)
}

/// The key and the reason of a refusal; any other answer fails the case.
pub(super) fn refusal(answer: Result<Appended, AppendError>) -> (ClientMessageId, RejectReason) {
    match answer {
        Err(AppendError::Rejected { key, reason }) => (key, reason),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// One page.
pub(super) async fn page(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
) -> RecentPage {
    let read = subject.memory().recent(tenant, user, query).await;
    read.expect("reads")
}

/// A user's latest 100 turns, newest first.
pub(super) async fn latest(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> Vec<Turn> {
    let query = RecentQuery {
        limit: limit(100),
        ..RecentQuery::default()
    };
    page(subject, tenant, user, &query).await.turns
}

/// All of a user's turns, newest first, page by page.
pub(super) async fn all(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> Vec<Turn> {
    let mut query = RecentQuery {
        limit: limit(100),
        ..RecentQuery::default()
    };
    let mut turns = Vec::new();
    loop {
        let page = page(subject, tenant, user, &query).await;
        turns.extend(page.turns);
        if !go_on(&mut query, page.next) {
            return turns;
        }
    }
}

/// Turns the query to the next page; `false` when there is none. A place that is not older would make
/// its reader go round for ever.
pub(super) fn go_on(query: &mut RecentQuery, next: Option<Position>) -> bool {
    if let (Some(before), Some(next)) = (query.before, next) {
        assert!(next < before, "{next:?} is not older than {before:?}");
    }
    query.before = next;
    next.is_some()
}

/// The latest 100 turns of a scope, oldest first.
pub(super) async fn told(
    subject: &dyn Subject,
    tenant: &TenantId,
    scope: &ChannelScope,
) -> Vec<Turn> {
    let read = subject.memory().history(tenant, scope, limit(100)).await;
    read.expect("reads")
}

pub(super) async fn usage(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> Usage {
    let read = subject.memory().usage(tenant, user).await;
    read.expect("reads")
}

pub(super) fn ids(turns: &[Turn]) -> Vec<TurnId> {
    turns.iter().map(Turn::id).collect()
}

/// What the users said, in the order of the turns.
pub(super) fn said(turns: &[Turn]) -> Vec<&str> {
    turns
        .iter()
        .map(|turn| turn.user_message.as_str())
        .collect()
}

/// Now, by the subject's clock.
pub(super) fn now(subject: &dyn Subject) -> Timestamp {
    subject.clock().now()
}

/// What a stored turn counts for in its user's usage (R-065, T-59).
pub(super) fn bytes(turn: &Turn) -> u64 {
    let tools = turn.tool_calls.as_ref().map_or("", |json| json.as_str());
    let metadata = match turn.metadata.as_str() {
        "{}" => "",
        text => text,
    };
    [&turn.user_message, &turn.assistant_answer, tools, metadata]
        .into_iter()
        .map(|text| text.len() as u64)
        .sum()
}
