//! Turns that wait for a scan, on PostgreSQL. Each call is one statement, so one transaction by itself:
//! a worker that dies between two of them leaves rows as they were.

use async_trait::async_trait;
use throughline_conversation_memory::{
    Backlog, Due, MemoryError, RedactionQueue, RedactionState, Settlement,
};
use throughline_domain::{Json, TenantId, TurnId};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::StoreError;
use crate::memory::turn;
use crate::row::{Reader, uuid};
use crate::statement::{ForOperator, ForTenant, Statement};
use crate::store::PostgresStore;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[&DUE, &REDACTED, &SETTLE];

pub(crate) static FOR_OPERATOR: &[&ForOperator] = &[&TENANTS_DUE, &BACKLOG];

static DUE: ForTenant = ForTenant(Statement {
    name: "redaction_due",
    sql: include_str!("redaction_queue/redaction_due.sql"),
    params: &[Type::TEXT, Type::INT4, Type::INT8, Type::UUID_ARRAY],
});

static REDACTED: ForTenant = ForTenant(Statement {
    name: "redaction_redacted",
    sql: include_str!("redaction_queue/redaction_redacted.sql"),
    params: &[Type::TEXT, Type::UUID, Type::INT8],
});

static SETTLE: ForTenant = ForTenant(Statement {
    name: "redaction_settle",
    sql: include_str!("redaction_queue/redaction_settle.sql"),
    params: &[
        Type::TEXT,
        Type::UUID_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT4_ARRAY,
        Type::INT4_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT4_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT4_ARRAY,
    ],
});

static TENANTS_DUE: ForOperator = ForOperator(Statement {
    name: "redaction_tenants_due",
    sql: include_str!("redaction_queue/redaction_tenants_due.sql"),
    params: &[Type::TEXT, Type::INT4, Type::INT8],
});

static BACKLOG: ForOperator = ForOperator(Statement {
    name: "redaction_backlog",
    sql: include_str!("redaction_queue/redaction_backlog.sql"),
    params: &[Type::INT8],
});

/// What a backlog counts at most.
const COUNTED: i64 = 1_000_000;

/// The columns of many settlements.
#[derive(Default)]
struct Columns<'a> {
    ids: Vec<Uuid>,
    seen_states: Vec<&'static str>,
    seen_versions: Vec<Option<i32>>,
    seen_failures: Vec<i32>,
    states: Vec<&'static str>,
    versions: Vec<Option<i32>>,
    findings: Vec<Option<&'a str>>,
    failures: Vec<i32>,
}

impl<'a> Columns<'a> {
    fn of(settlements: &'a [Settlement]) -> Self {
        let mut columns = Self::default();
        for one in settlements {
            let (seen, now) = (one.seen, &one.redaction);
            columns.ids.push(uuid(one.turn.as_u128()));
            columns.seen_states.push(seen.state.as_str());
            columns.seen_versions.push(version(seen.detector_version));
            columns.seen_failures.push(count(seen.failures));
            columns.states.push(RedactionState::as_str(now.state()));
            columns.versions.push(version(now.detector_version()));
            columns.findings.push(now.findings().map(Json::as_str));
            columns.failures.push(count(one.failures));
        }
        columns
    }
}

fn version(version: Option<u32>) -> Option<i32> {
    version.map(u32::cast_signed)
}

/// Nobody counts to the end of the column.
fn count(failures: u32) -> i32 {
    i32::try_from(failures)
        .unwrap_or(i32::MAX)
        .min(i32::from(i16::MAX))
}

fn due(rows: &[Row]) -> Result<Vec<Due>, StoreError> {
    let turns = turn::turns(rows)?;
    let due = turns.into_iter().zip(rows).map(|(turn, row)| {
        let row = Reader::of(row, "cross_channel_messages").keyed(&turn.id);
        let failures = u32::try_from(row.number("failures")?).unwrap_or(u32::MAX);
        Ok(Due { turn, failures })
    });
    due.collect()
}

#[async_trait]
impl RedactionQueue for PostgresStore {
    async fn tenants_due(
        &self,
        detector_version: u32,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, MemoryError> {
        let after = after.map_or("", TenantId::as_str);
        let params: &[crate::session::Param<'_>] =
            &[&after, &detector_version.cast_signed(), &i64::from(limit)];
        let rows = self.sessions.query_as_operator(&TENANTS_DUE, params).await;
        let rows = rows.map_err(StoreError::memory)?;
        let names = rows.iter().map(|row| {
            let row = Reader::of(row, "tenants");
            row.parsed("tenant_id", |name| TenantId::parse(name).ok())
        });
        names.map(|name| name.map_err(StoreError::memory)).collect()
    }

    async fn due(
        &self,
        tenant: &TenantId,
        detector_version: u32,
        rows: u32,
        except: &[TurnId],
    ) -> Result<Vec<Due>, MemoryError> {
        let except: Vec<Uuid> = except.iter().map(|id| uuid(id.as_u128())).collect();
        let params: &[crate::session::Param<'_>] =
            &[&detector_version.cast_signed(), &i64::from(rows), &except];
        let found = self.sessions.query(tenant, &DUE, params).await;
        found
            .and_then(|rows| due(&rows))
            .map_err(StoreError::memory)
    }

    async fn redacted(
        &self,
        tenant: &TenantId,
        after: Option<TurnId>,
        rows: u32,
    ) -> Result<Vec<Due>, MemoryError> {
        // No id of a turn is nil.
        let after = uuid(after.map_or(0, TurnId::as_u128));
        let params: &[crate::session::Param<'_>] = &[&after, &i64::from(rows)];
        let found = self.sessions.query(tenant, &REDACTED, params).await;
        found
            .and_then(|rows| due(&rows))
            .map_err(StoreError::memory)
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        settlements: &[Settlement],
    ) -> Result<Vec<TurnId>, MemoryError> {
        if settlements.is_empty() {
            return Ok(Vec::new());
        }
        let columns = Columns::of(settlements);
        let params: &[crate::session::Param<'_>] = &[
            &columns.ids,
            &columns.seen_states,
            &columns.seen_versions,
            &columns.seen_failures,
            &columns.states,
            &columns.versions,
            &columns.findings,
            &columns.failures,
        ];
        let rows = self.sessions.query(tenant, &SETTLE, params).await;
        let rows = rows.map_err(StoreError::memory)?;
        let written = rows.iter().map(|row| {
            let row = Reader::of(row, "cross_channel_messages");
            row.get::<Uuid>("id")
                .map(|id| TurnId::from_u128(id.as_u128()))
        });
        written.map(|id| id.map_err(StoreError::memory)).collect()
    }

    async fn backlog(&self) -> Result<Backlog, MemoryError> {
        let rows = self.sessions.query_as_operator(&BACKLOG, &[&COUNTED]).await;
        let rows = rows.map_err(StoreError::memory)?;
        let Some(row) = rows.first() else {
            return Ok(Backlog::default());
        };
        let row = Reader::of(row, "cross_channel_messages");
        let oldest: Option<std::time::SystemTime> =
            row.get("oldest").map_err(StoreError::memory)?;
        Ok(Backlog {
            pending: row.number("pending").map_err(StoreError::memory)?,
            oldest: oldest.map(throughline_domain::Timestamp::from_system_time),
        })
    }
}
