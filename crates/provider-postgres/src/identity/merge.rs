//! Two people become one.

use throughline_conversation_memory::{AuditDetail, MergeIdentities};
use throughline_domain::{Actor, MergeId, TenantId, Timestamp, UserId};
use throughline_platform_identity::{IdentityError, MergeSource, Merged, UserStatus};
use tokio_postgres::types::Type;

use super::people::{self, Person};
use super::policy::known_tenant;
use crate::audit::{self, Entry};
use crate::error::StoreError;
use crate::row::{Reader, bigint, uuid};
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;
use crate::transaction::{Abort, Failed, TRIES};

pub(super) static MOVE_TURNS: ForTenant = ForTenant(Statement {
    name: "merge_turns",
    sql: include_str!("merge_turns.sql"),
    params: &[Type::TEXT, Type::UUID, Type::UUID],
});

pub(super) static MOVE_USERS: ForTenant = ForTenant(Statement {
    name: "merge_users",
    sql: include_str!("merge_users.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::UUID,
        Type::INT8,
        Type::INT8,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static IDENTITIES: ForTenant = ForTenant(Statement {
    name: "merge_identities",
    sql: "-- merge_identities\n\
          select count(*) as identities\n\
          from platform_identities\n\
          where tenant_id = $1\n\
          and user_id = any($2)",
    params: &[Type::TEXT, Type::UUID_ARRAY],
});

pub(super) static RECORD: ForTenant = ForTenant(Statement {
    name: "merge_record",
    sql: include_str!("merge_record.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::UUID,
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::INT8,
        Type::TIMESTAMPTZ,
    ],
});

/// Why, and by whom.
#[derive(Clone, Copy)]
pub(super) struct Warrant<'a> {
    pub(super) source: MergeSource,
    pub(super) actor: &'a Actor,
    pub(super) now: Timestamp,
}

pub(super) async fn merge(
    store: &PostgresStore,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
    source: MergeSource,
    actor: &Actor,
) -> Result<Merged, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        let warrant = Warrant {
            source,
            actor,
            now: store.clock.now(),
        };
        session.begin().await?;
        let outcome = once(store, &session, tenant, (primary, secondary), warrant).await;
        if let Some(merged) = session.end(outcome).await? {
            return Ok(merged);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

async fn once(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    (primary, secondary): (UserId, UserId),
    warrant: Warrant<'_>,
) -> Result<Merged, Abort<IdentityError>> {
    known_tenant(session, tenant).await?;
    let people = lock_two(session, tenant, primary, secondary).await?;
    join(store, session, tenant, &people, warrant).await
}

/// Locks both people; somebody unknown or forgotten is nobody to merge (T-50).
pub(super) async fn lock_two(
    session: &Session<'_>,
    tenant: &TenantId,
    primary: UserId,
    secondary: UserId,
) -> Result<[Person; 2], Abort<IdentityError>> {
    let mut people = people::lock(session, tenant, &[primary, secondary])
        .await?
        .into_iter();
    let mut active = |id| {
        people
            .next()
            .flatten()
            .filter(|person| person.status == UserStatus::Active)
            .ok_or(IdentityError::UnknownUser(id))
    };
    Ok([active(primary)?, active(secondary)?])
}

/// Joins two people that are locked.
pub(super) async fn join(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    [primary, secondary]: &[Person; 2],
    warrant: Warrant<'_>,
) -> Result<Merged, Abort<IdentityError>> {
    if primary.root == secondary.root {
        return Err(IdentityError::NoChange.into());
    }
    let (into, from) = (uuid(primary.root.as_u128()), uuid(secondary.root.as_u128()));
    let bound = session.bound(tenant);
    let moved = bound.query(&MOVE_TURNS, &[&from, &into]).await?;
    let moved = Moved::of(&moved)?;
    let now = warrant.now.to_system_time();
    bound
        .query(
            &MOVE_USERS,
            &[
                &from,
                &into,
                &bigint(moved.turns),
                &bigint(moved.bytes),
                &now,
            ],
        )
        .await?;
    let merged = Merged {
        merge_id: MergeId::new(store.ids.ulid(warrant.now)),
        user_id: primary.root,
        merged_identities: identities(session, tenant, secondary).await?,
        moved_turns: moved.turns,
    };
    record(store, session, tenant, (&merged, secondary.root), warrant).await?;
    Ok(merged)
}

/// Writes the merge and its audit entry.
pub(super) async fn record(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    (merged, secondary): (&Merged, UserId),
    warrant: Warrant<'_>,
) -> Result<(), StoreError> {
    let Warrant { source, actor, now } = warrant;
    session
        .bound(tenant)
        .query(
            &RECORD,
            &[
                &uuid(merged.merge_id.as_u128()),
                &uuid(merged.user_id.as_u128()),
                &uuid(secondary.as_u128()),
                &source.as_str(),
                &actor.as_str(),
                &bigint(merged.merged_identities),
                &bigint(merged.moved_turns),
                &now.to_system_time(),
            ],
        )
        .await?;
    let detail = AuditDetail::MergeIdentities(MergeIdentities {
        primary_user_id: Some(merged.user_id),
        secondary_user_id: Some(secondary),
        merged_identities: merged.merged_identities,
        source: source.as_str().to_owned(),
    });
    let entry = Entry {
        actor,
        user: Some(merged.user_id),
        target: Some(secondary),
        detail: &detail,
        now,
    };
    audit::write(store, session, tenant, entry).await
}

async fn identities(
    session: &Session<'_>,
    tenant: &TenantId,
    person: &Person,
) -> Result<u64, StoreError> {
    let rows = session
        .bound(tenant)
        .query(&IDENTITIES, &[&person.uuids()])
        .await?;
    let Some(row) = rows.first() else {
        return Ok(0);
    };
    let row = Reader::of(row, "platform_identities").keyed(&person.root);
    row.number("identities")
}

/// Turns that changed hands, with their bytes.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) turns: u64,
    pub(super) bytes: u64,
}

impl Moved {
    pub(super) fn of(rows: &[tokio_postgres::Row]) -> Result<Self, StoreError> {
        let Some(row) = rows.first() else {
            return Ok(Self { turns: 0, bytes: 0 });
        };
        let row = Reader::of(row, "cross_channel_messages");
        Ok(Self {
            turns: row.number("turns")?,
            bytes: row.number("bytes")?,
        })
    }
}
