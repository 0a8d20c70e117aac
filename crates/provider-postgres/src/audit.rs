//! The audit trail: written in the audited operation's transaction, read newest first.

use async_trait::async_trait;
use throughline_conversation_memory::{
    Audit, AuditDetail, AuditEvent, AuditOp, AuditQuery, MemoryError,
};
use throughline_domain::{Actor, AuditId, TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::{Param, Session};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[&WRITE, &EVENTS];

static WRITE: ForTenant = ForTenant(Statement {
    name: "audit_write",
    sql: "-- audit_write\n\
          insert into ccm_audit_events (\n\
          tenant_id, id, actor, op, target_id, user_id, detail, created_at\n\
          )\n\
          values ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8)",
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
        Type::UUID,
        Type::TEXT,
        Type::TIMESTAMPTZ,
    ],
});

/// One row for a tenant that exists, so that "nothing happened" and "no such tenant" differ.
static EVENTS: ForTenant = ForTenant(Statement {
    name: "audit_events",
    sql: include_str!("audit_events.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::INT8,
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
    ],
});

/// What is to be written.
pub(crate) struct Entry<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) user: Option<UserId>,
    pub(crate) target: Option<UserId>,
    pub(crate) detail: &'a AuditDetail,
    pub(crate) now: Timestamp,
}

pub(crate) async fn write(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    entry: Entry<'_>,
) -> Result<(), StoreError> {
    let id = AuditId::new(store.ids.ulid(entry.now));
    let user = |user: Option<UserId>| user.map(|user| uuid(user.as_u128()));
    session
        .bound(tenant)
        .query(
            &WRITE,
            &[
                &uuid(id.as_u128()),
                &entry.actor.as_str(),
                &entry.detail.op().as_str(),
                &user(entry.target),
                &user(entry.user),
                &entry.detail.to_json(),
                &entry.now.to_system_time(),
            ],
        )
        .await
        .map(|_| ())
}

#[async_trait]
impl Audit for PostgresStore {
    async fn events(
        &self,
        tenant: &TenantId,
        query: &AuditQuery,
    ) -> Result<Vec<AuditEvent>, MemoryError> {
        let before = uuid(query.before.map_or(u128::MAX, AuditId::as_u128));
        let moment = |at: Option<Timestamp>| at.map(Timestamp::to_system_time);
        let params: [Param<'_>; 5] = [
            &before,
            &i64::from(query.limit),
            &query.op.map(AuditOp::as_str),
            &moment(query.since),
            &moment(query.until),
        ];
        let rows = self.sessions.query(tenant, &EVENTS, &params).await;
        let rows = rows.map_err(StoreError::memory)?;
        if rows.is_empty() {
            return Err(MemoryError::UnknownTenant(tenant.clone()));
        }
        let events = rows.iter().filter_map(|row| event_of(row).transpose());
        events
            .map(|event| event.map_err(StoreError::memory))
            .collect()
    }
}

fn event_of(row: &Row) -> Result<Option<AuditEvent>, StoreError> {
    let row = Reader::of(row, "ccm_audit_events");
    let Some(id) = row.get::<Option<Uuid>>("id")? else {
        return Ok(None);
    };
    let id = AuditId::from_u128(id.as_u128());
    let row = row.keyed(&id);
    let user = |column| {
        let id: Option<Uuid> = row.get(column)?;
        Ok::<_, StoreError>(id.map(|id| UserId::from_u128(id.as_u128())))
    };
    let op: &str = row.get("op")?;
    Ok(Some(AuditEvent {
        id,
        actor: row.parsed("actor", |name| Actor::parse(name).ok())?,
        user_id: user("user_id")?,
        target_id: user("target_id")?,
        detail: row.parsed("detail", |text| AuditDetail::from_json(op, text))?,
        created_at: row.time("created_at")?,
    }))
}
