//! One person becomes two again.

use throughline_conversation_memory::{AuditDetail, UndoMerge};
use throughline_domain::{Actor, MergeId, TenantId, Timestamp, UserId};
use throughline_platform_identity::{IdentityError, Undone};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::merge::Moved;
use super::people::{self, Person};
use super::policy::known_tenant;
use crate::audit::{self, Entry};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;
use crate::transaction::{Abort, Failed, TRIES};

pub(super) static FIND: ForTenant = ForTenant(Statement {
    name: "undo_merge_find",
    sql: "-- undo_merge_find\n\
          select primary_user_id, secondary_user_id, undone_at is not null as undone\n\
          from merges\n\
          where tenant_id = $1\n\
          and merge_id = $2",
    params: &[Type::TEXT, Type::UUID],
});

pub(super) static FOLLOWERS: ForTenant = ForTenant(Statement {
    name: "undo_merge_followers",
    sql: include_str!("undo_merge_followers.sql"),
    params: &[Type::TEXT, Type::UUID],
});

pub(super) static TURNS: ForTenant = ForTenant(Statement {
    name: "undo_merge_turns",
    sql: include_str!("undo_merge_turns.sql"),
    params: &[Type::TEXT, Type::UUID, Type::UUID, Type::UUID_ARRAY],
});

pub(super) static USERS: ForTenant = ForTenant(Statement {
    name: "undo_merge_users",
    sql: include_str!("undo_merge_users.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::UUID,
        Type::UUID_ARRAY,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static RECORD: ForTenant = ForTenant(Statement {
    name: "undo_merge_record",
    sql: include_str!("undo_merge_record.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::UUID_ARRAY,
        Type::TEXT,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) async fn undo_merge(
    store: &PostgresStore,
    tenant: &TenantId,
    merge: MergeId,
    actor: &Actor,
) -> Result<Undone, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        let now = store.clock.now();
        session.begin().await?;
        let outcome = once(store, &session, tenant, merge, (actor, now)).await;
        if let Some(undone) = session.end(outcome).await? {
            return Ok(undone);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

/// A merge as undo needs it.
struct Standing {
    primary: UserId,
    secondary: UserId,
    undone: bool,
}

async fn once(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    merge: MergeId,
    (actor, now): (&Actor, Timestamp),
) -> Result<Undone, Abort<IdentityError>> {
    known_tenant(session, tenant).await?;
    let unknown = || IdentityError::UnknownMerge(merge);
    let standing = find(session, tenant, merge).await?.ok_or_else(unknown)?;
    let mut people = people::lock(session, tenant, &[standing.secondary]).await?;
    let person = people.pop().flatten().ok_or_else(unknown)?;
    // Under the lock: an erasure may have taken the merge, another undo may have been first.
    if find(session, tenant, merge)
        .await?
        .ok_or_else(unknown)?
        .undone
    {
        return Err(IdentityError::AlreadyUndone(merge).into());
    }
    let leavers = followers(session, tenant, standing.secondary).await?;
    let (restored_turns, restored_identities) = part(
        session,
        tenant,
        &person,
        (standing.secondary, &leavers),
        (merge, actor, now),
    )
    .await?;
    let detail = AuditDetail::UndoMerge(UndoMerge {
        primary_user_id: Some(standing.primary),
        secondary_user_id: Some(standing.secondary),
        restored_identities,
    });
    let (user, target) = (Some(standing.primary), Some(standing.secondary));
    audit::write(
        store,
        session,
        tenant,
        Entry {
            actor,
            user,
            target,
            detail: &detail,
            now,
        },
    )
    .await?;
    Ok(Undone {
        merge_id: merge,
        primary_user_id: person.root,
        secondary_user_id: standing.secondary,
        restored_identities,
        restored_turns,
    })
}

/// Parts the leavers from the locked person, and gives turns and identities that went along.
async fn part(
    session: &Session<'_>,
    tenant: &TenantId,
    person: &Person,
    (leader, leavers): (UserId, &[Uuid]),
    (merge, actor, now): (MergeId, &Actor, Timestamp),
) -> Result<(u64, u64), StoreError> {
    let (root, leader) = (uuid(person.root.as_u128()), uuid(leader.as_u128()));
    let now = now.to_system_time();
    let bound = session.bound(tenant);
    let turns = bound.query(&TURNS, &[&root, &leader, &leavers]).await?;
    let turns = Moved::of(&turns)?.turns;
    bound
        .query(&USERS, &[&root, &leader, &leavers, &now])
        .await?;
    let merge_id = uuid(merge.as_u128());
    let rows = bound
        .query(&RECORD, &[&merge_id, &leavers, &actor.as_str(), &now])
        .await?;
    let row = rows
        .first()
        .map(|row| Reader::of(row, "merges").keyed(&merge));
    let identities = row.map_or(Ok(0), |row| row.number("identities"))?;
    Ok((turns, identities))
}

async fn find(
    session: &Session<'_>,
    tenant: &TenantId,
    merge: MergeId,
) -> Result<Option<Standing>, StoreError> {
    let rows = session
        .bound(tenant)
        .query(&FIND, &[&uuid(merge.as_u128())])
        .await?;
    let read = |row| {
        let row = Reader::of(row, "merges").keyed(&merge);
        Ok(Standing {
            primary: row.user("primary_user_id")?,
            secondary: row.user("secondary_user_id")?,
            undone: row.get("undone")?,
        })
    };
    rows.first().map(read).transpose()
}

async fn followers(
    session: &Session<'_>,
    tenant: &TenantId,
    leader: UserId,
) -> Result<Vec<Uuid>, StoreError> {
    let rows = session
        .bound(tenant)
        .query(&FOLLOWERS, &[&uuid(leader.as_u128())])
        .await?;
    let read = |row| Reader::of(row, "merges").keyed(&leader).get("user_id");
    rows.iter().map(read).collect()
}
