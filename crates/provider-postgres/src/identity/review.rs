//! Questions to an operator, as rows.

use throughline_domain::{Actor, MergeId, ReviewId, TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    Decision, DecisionReason, IdentityError, MergeSource, Review, ReviewQuery, ReviewReason,
    ReviewState, Verdict,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::merge::{self, Warrant};
use super::policy::known_tenant;
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;
use crate::transaction::{Abort, Failed, TRIES};

pub(super) static RAISE: ForTenant = ForTenant(Statement {
    name: "review_raise",
    sql: include_str!("review_raise.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::UUID,
        Type::UUID,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static PROPOSE: ForTenant = ForTenant(Statement {
    name: "review_propose",
    sql: include_str!("review_propose.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::UUID,
        Type::UUID,
        Type::TEXT,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static LIST: ForTenant = ForTenant(Statement {
    name: "review_list",
    sql: include_str!("review_list.sql"),
    params: &[Type::TEXT, Type::TEXT, Type::UUID, Type::INT8],
});

pub(super) static FIND: ForTenant = ForTenant(Statement {
    name: "review_find",
    sql: include_str!("review_find.sql"),
    params: &[Type::TEXT, Type::UUID],
});

pub(super) static DECIDE: ForTenant = ForTenant(Statement {
    name: "review_decide",
    sql: include_str!("review_decide.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
    ],
});

/// Raises a question by an address, once for good: a declined one is not asked again. It names accounts
/// and never survivors, so that it is about the same people when merges come or go meanwhile.
pub(super) async fn raise(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
    (reason, now): (ReviewReason, Timestamp),
) -> Result<(), StoreError> {
    let id = uuid(store.ids.ulid(now).0);
    let (primary, secondary) = (uuid(primary.as_u128()), uuid(secondary.as_u128()));
    let now = now.to_system_time();
    let params: [crate::session::Param<'_>; 5] =
        [&id, &reason.as_str(), &primary, &secondary, &now];
    session
        .bound(tenant)
        .query(&RAISE, &params)
        .await
        .map(|_| ())
}

pub(super) async fn propose(
    store: &PostgresStore,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
    proposer: &Actor,
) -> Result<ReviewId, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        session.begin().await?;
        let outcome = propose_once(store, &session, tenant, (primary, secondary), proposer).await;
        if let Some(id) = session.end(outcome).await? {
            return Ok(id);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

async fn propose_once(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
    proposer: &Actor,
) -> Result<ReviewId, Abort<IdentityError>> {
    known_tenant(session, tenant).await?;
    let people = merge::lock_two(session, tenant, primary, secondary).await?;
    if people[0].root == people[1].root {
        return Err(IdentityError::NoChange.into());
    }
    let now = store.clock.now();
    let id = uuid(store.ids.ulid(now).0);
    // As they were asked about, not their survivors, as every review does.
    let (primary, secondary) = (uuid(primary.as_u128()), uuid(secondary.as_u128()));
    let now = now.to_system_time();
    let params: [crate::session::Param<'_>; 5] =
        [&id, &primary, &secondary, &proposer.as_str(), &now];
    let rows = session.bound(tenant).query(&PROPOSE, &params).await?;
    let row = rows.first().ok_or(Abort::Moved)?;
    let row = Reader::of(row, "reviews");
    Ok(ReviewId::from_u128(row.get::<Uuid>("review_id")?.as_u128()))
}

pub(super) async fn list(
    store: &PostgresStore,
    tenant: &TenantId,
    query: &ReviewQuery,
) -> Result<Vec<Review>, IdentityError> {
    let state = query.state.map(ReviewState::as_str);
    let after = uuid(query.after.map_or(0, ReviewId::as_u128));
    let rows = store
        .sessions
        .query(tenant, &LIST, &[&state, &after, &i64::from(query.limit)])
        .await
        .map_err(|error| error.identity(tenant))?;
    if rows.is_empty() {
        return Err(IdentityError::UnknownTenant(tenant.clone()));
    }
    let reviews = rows.iter().filter_map(|row| review_of(row).transpose());
    reviews
        .map(|review| review.map_err(|error| error.identity(tenant)))
        .collect()
}

pub(super) async fn decide(
    store: &PostgresStore,
    tenant: &TenantId,
    id: ReviewId,
    verdict: Verdict,
    (reason, actor): (&DecisionReason, &Actor),
) -> Result<Review, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        session.begin().await?;
        let outcome = decide_once(store, &session, tenant, (id, verdict), (reason, actor)).await;
        if let Some(review) = session.end(outcome).await? {
            return Ok(review);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

async fn decide_once(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    (id, verdict): (ReviewId, Verdict),
    (reason, actor): (&DecisionReason, &Actor),
) -> Result<Review, Abort<IdentityError>> {
    known_tenant(session, tenant).await?;
    let unknown = || IdentityError::UnknownReview(id);
    let asked = find(session, tenant, id).await?.ok_or_else(unknown)?;
    let (primary, secondary) = (asked.primary_user_id, asked.secondary_user_id);
    // Both people first, as everybody does; an erasure of either takes the review along.
    let people = merge::lock_two(session, tenant, primary, secondary).await;
    let asked = find(session, tenant, id).await?.ok_or_else(unknown)?;
    let people = people?;
    if asked.decision.is_some() {
        return Err(IdentityError::AlreadyDecided(id).into());
    }
    let now = store.clock.now();
    let (state, merge_id) = match verdict {
        Verdict::Decline => (ReviewState::Declined, None),
        Verdict::Accept if people[0].root == people[1].root => (ReviewState::Accepted, None),
        Verdict::Accept => {
            let warrant = Warrant {
                source: MergeSource::Manual,
                actor,
                now,
            };
            let merged = merge::join(store, session, tenant, &people, warrant).await?;
            (ReviewState::Accepted, Some(merged.merge_id))
        }
    };
    let merge_uuid = merge_id.map(|id| uuid(id.as_u128()));
    let params: [crate::session::Param<'_>; 6] = [
        &uuid(id.as_u128()),
        &state.as_str(),
        &now.to_system_time(),
        &actor.as_str(),
        &reason.as_str(),
        &merge_uuid,
    ];
    session.bound(tenant).query(&DECIDE, &params).await?;
    let decision = Decision {
        at: now,
        actor: actor.clone(),
        reason: reason.clone(),
        merge_id,
    };
    Ok(Review {
        state,
        decision: Some(decision),
        ..asked
    })
}

async fn find(
    session: &Session<'_>,
    tenant: &TenantId,
    id: ReviewId,
) -> Result<Option<Review>, StoreError> {
    let rows = session
        .bound(tenant)
        .query(&FIND, &[&uuid(id.as_u128())])
        .await?;
    rows.first().map_or(Ok(None), review_of)
}

/// `None` is the row of a tenant that has none.
fn review_of(row: &Row) -> Result<Option<Review>, StoreError> {
    let row = Reader::of(row, "reviews");
    let Some(id) = row.get::<Option<Uuid>>("review_id")? else {
        return Ok(None);
    };
    let id = ReviewId::from_u128(id.as_u128());
    let row = row.keyed(&id);
    let actor = |column| {
        let name: Option<&str> = row.get(column)?;
        let parse = |name| Actor::parse(name).map_err(|_| row.corrupt(column));
        name.map(parse).transpose()
    };
    Ok(Some(Review {
        id,
        reason: row.parsed("reason", ReviewReason::parse)?,
        state: row.parsed("state", ReviewState::parse)?,
        primary_user_id: row.user("primary_user_id")?,
        secondary_user_id: row.user("secondary_user_id")?,
        proposed_by: actor("proposed_by")?,
        created_at: row.time("created_at")?,
        decision: actor("decided_by")?
            .map(|actor| decision_of(&row, actor))
            .transpose()?,
    }))
}

fn decision_of(row: &Reader<'_>, actor: Actor) -> Result<Decision, StoreError> {
    let merge: Option<Uuid> = row.get("merge_id")?;
    Ok(Decision {
        at: row.time("decided_at")?,
        actor,
        reason: row.parsed("decision_reason", |text| DecisionReason::parse(text).ok())?,
        merge_id: merge.map(|id| MergeId::from_u128(id.as_u128())),
    })
}
