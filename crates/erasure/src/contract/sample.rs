//! People and turns that the cases share.

use throughline_conversation_memory::AuditQuery;
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, Appended, AuditDetail, Limit, RecentQuery, RejectReason, Turn, Usage,
};
use throughline_domain::{Actor, TenantId, UserId};
use throughline_platform_identity::{
    ChannelUser, IdentityError, MergeRecord, MergeSource, Merged, PlatformKind, Resolved, Review,
    ReviewQuery, ReviewReason, User,
};
use throughline_tenancy::TenantConfig;

use super::Subject;
use crate::{ErasureError, Mode, Receipt};

pub(super) const MAIL: &str = "mina@corp.example";

/// A tenant by the default rules: no address joins anybody.
pub(super) async fn tenant(subject: &dyn Subject, name: &str) -> TenantId {
    made(subject, name, TenantConfig::default()).await
}

/// A tenant that joins by address, and trusts Teams and Slack.
pub(super) async fn joining(subject: &dyn Subject, name: &str) -> TenantId {
    let config = TenantConfig {
        auto_merge_on_email: true,
        verified_email_kinds: vec![PlatformKind::TeamsAad, PlatformKind::SlackUser],
        ..TenantConfig::default()
    };
    made(subject, name, config).await
}

async fn made(subject: &dyn Subject, name: &str, config: TenantConfig) -> TenantId {
    let tenant = TenantId::parse(name).expect("a plain name");
    subject
        .tenancy()
        .create_tenant(&tenant, config)
        .await
        .expect("a new tenant");
    tenant
}

pub(super) fn operator() -> Actor {
    Actor::parse("olga").expect("a plain name")
}

pub(super) fn custom(id: &str) -> ChannelUser {
    ChannelUser::new(PlatformKind::Custom, id).expect("a plain id")
}

pub(super) fn mailed(
    kind: PlatformKind,
    id: &str,
    email: &str,
    verified: Option<bool>,
) -> ChannelUser {
    let user = ChannelUser::new(kind, id).expect("a plain id");
    user.with_email(email, verified).expect("a usable address")
}

/// A Teams user with a verified address.
pub(super) fn teams(id: &str, email: &str) -> ChannelUser {
    mailed(PlatformKind::TeamsAad, id, email, Some(true))
}

/// A Slack user with a verified address.
pub(super) fn slack(id: &str, email: &str) -> ChannelUser {
    mailed(PlatformKind::SlackUser, id, email, Some(true))
}

pub(super) async fn seen(subject: &dyn Subject, tenant: &TenantId, who: &ChannelUser) -> Resolved {
    subject
        .identity()
        .resolve(tenant, who)
        .await
        .expect("resolves")
}

/// Somebody new, with this many turns under keys that start with their name.
pub(super) async fn person(
    subject: &dyn Subject,
    tenant: &TenantId,
    name: &str,
    turns: usize,
) -> UserId {
    let user = seen(subject, tenant, &custom(name)).await.user_id;
    for number in 0..turns {
        say(subject, tenant, user, &format!("{name}-{number}"))
            .await
            .expect("stored");
    }
    user
}

/// Appends a turn that says its own key, in a scope of its own user id's last words.
pub(super) async fn say(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: UserId,
    key: &str,
) -> Result<Appended, AppendError> {
    let turn = turn(user, key).saying(&format!("{key} says")).build();
    subject.memory().append(tenant, turn).await
}

pub(super) fn is_gone(answer: &Result<Appended, AppendError>) -> bool {
    matches!(
        answer,
        Err(AppendError::Rejected {
            reason: RejectReason::Gone,
            ..
        })
    )
}

pub(super) async fn merge(
    subject: &dyn Subject,
    tenant: &TenantId,
    primary: UserId,
    secondary: UserId,
) -> Result<Merged, IdentityError> {
    let identity = subject.identity();
    identity
        .merge(tenant, primary, secondary, MergeSource::Manual, &operator())
        .await
}

pub(super) async fn merges(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: UserId,
) -> Vec<MergeRecord> {
    subject
        .identity()
        .merges(tenant, user)
        .await
        .expect("reads")
}

pub(super) async fn erase(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: UserId,
    mode: Mode,
) -> Result<Receipt, ErasureError> {
    subject
        .erasure()
        .erase(tenant, user, &operator(), mode)
        .await
}

pub(super) const ALL_REVIEWS: ReviewQuery = ReviewQuery {
    state: None,
    after: None,
    limit: 100,
};

pub(super) async fn reviews(subject: &dyn Subject, tenant: &TenantId) -> Vec<Review> {
    subject
        .identity()
        .reviews(tenant, &ALL_REVIEWS)
        .await
        .expect("reads")
}

pub(super) async fn questions(
    subject: &dyn Subject,
    tenant: &TenantId,
) -> Vec<(ReviewReason, UserId, UserId)> {
    let reviews = reviews(subject, tenant).await;
    let parts = |review: Review| {
        (
            review.reason,
            review.primary_user_id,
            review.secondary_user_id,
        )
    };
    reviews.into_iter().map(parts).collect()
}

/// What the trail says, newest first.
pub(super) async fn trail(subject: &dyn Subject, tenant: &TenantId) -> Vec<AuditDetail> {
    let events = subject
        .audit()
        .events(tenant, &AuditQuery::latest(1_000))
        .await
        .expect("reads");
    events.into_iter().map(|event| event.detail).collect()
}

/// All turns of the person behind the id, newest first.
pub(super) async fn turns(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> Vec<Turn> {
    let mut query = RecentQuery {
        limit: Limit::new(Limit::MAX).expect("more than none"),
        ..RecentQuery::default()
    };
    let mut all = Vec::new();
    loop {
        let page = subject
            .memory()
            .recent(tenant, user, &query)
            .await
            .expect("reads");
        all.extend(page.turns);
        if page.next.is_none() {
            return all;
        }
        query.before = page.next;
    }
}

/// The person's words, oldest first.
pub(super) async fn words(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> Vec<String> {
    let mut words: Vec<_> = turns(subject, tenant, user)
        .await
        .into_iter()
        .map(|turn| turn.user_message)
        .collect();
    words.reverse();
    words
}

pub(super) async fn usage(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> Usage {
    subject.memory().usage(tenant, user).await.expect("reads")
}

/// Everything a reader can learn of one person.
#[derive(Debug, PartialEq)]
pub(super) struct Snapshot {
    user: Option<User>,
    usage: Usage,
    turns: Vec<Turn>,
}

pub(super) async fn snapshot(subject: &dyn Subject, tenant: &TenantId, id: UserId) -> Snapshot {
    Snapshot {
        user: subject.identity().user(tenant, id).await.expect("reads"),
        usage: usage(subject, tenant, id).await,
        turns: turns(subject, tenant, id).await,
    }
}

/// Counters against rows.
pub(super) async fn assert_counted(subject: &dyn Subject, tenant: &TenantId, user: UserId) {
    let turns = turns(subject, tenant, user).await;
    let bytes = |turn: &Turn| {
        let tools = turn
            .tool_calls
            .as_ref()
            .map_or(0, |json| json.as_str().len());
        let metadata = turn.metadata.as_str().len();
        let metadata = if metadata > 2 { metadata } else { 0 };
        (turn.user_message.len() + turn.assistant_answer.len() + tools + metadata) as u64
    };
    let expected = Usage {
        turn_count: turns.len() as u64,
        byte_count: turns.iter().map(bytes).sum(),
    };
    assert_eq!(usage(subject, tenant, user).await, expected, "{user}");
}
