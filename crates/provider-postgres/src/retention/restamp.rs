//! Bringing the ends of stored turns in line with a changed retention (D-17).

use throughline_conversation_memory::{Chunk, Restamp, Restamped, RetentionError};
use throughline_domain::TenantId;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{failed, known};
use crate::error::StoreError;
use crate::row::{Reader, bigint};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static READ: ForTenant = ForTenant(Statement {
    name: "restamp_read",
    sql: "-- restamp_read\n\
          select t.tenant_id is not null as known, r.looked_at, r.finished\n\
          from tenants t\n\
          left join restamps r on r.tenant_id = t.tenant_id\n\
          and r.ttl_seconds = $2\n\
          and r.extend = $3\n\
          where t.tenant_id = $1",
    params: &[Type::TEXT, Type::INT8, Type::BOOL],
});

pub(super) static BEGIN: ForTenant = ForTenant(Statement {
    name: "restamp_begin",
    sql: "-- restamp_begin\n\
          insert into restamps (tenant_id, ttl_seconds, extend, looked_at, finished)\n\
          values ($1, $2, $3, $4, false)\n\
          on conflict (tenant_id) do update\n\
          set ttl_seconds = excluded.ttl_seconds,\n\
          extend = excluded.extend,\n\
          looked_at = excluded.looked_at,\n\
          finished = excluded.finished",
    params: &[Type::TEXT, Type::INT8, Type::BOOL, Type::UUID],
});

pub(super) static RESTAMP: ForTenant = ForTenant(Statement {
    name: "gc_restamp",
    sql: include_str!("gc_restamp.sql"),
    params: &[
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::INT8,
        Type::UUID,
        Type::INT8,
        Type::BOOL,
    ],
});

pub(super) static ADVANCE: ForTenant = ForTenant(Statement {
    name: "restamp_advance",
    sql: "-- restamp_advance\n\
          update restamps\n\
          set looked_at = $2, finished = $3\n\
          where tenant_id = $1\n\
          and ttl_seconds = $4\n\
          and extend = $5",
    params: &[Type::TEXT, Type::UUID, Type::BOOL, Type::INT8, Type::BOOL],
});

/// Waits for the appends that are under way: they hold this row, and may have read the last rule.
pub(super) static BARRIER: ForTenant = ForTenant(Statement {
    name: "restamp_barrier",
    sql: "-- restamp_barrier\n\
          select seq\n\
          from tenant_streams\n\
          where tenant_id = $1\n\
          for no key update",
    params: &[Type::TEXT],
});

/// How often a stretch is looked at again because somebody moved a turn of it in between.
const LOOKS: u32 = 4;

/// One chunk's answer.
struct Stretch {
    looked: u64,
    moved: u64,
    last: Uuid,
}

pub(super) async fn restamp(
    store: &PostgresStore,
    tenant: &TenantId,
    rule: Restamp,
    chunk: Chunk,
) -> Result<Restamped, RetentionError> {
    let Some(from) = place(store, tenant, rule).await? else {
        return Ok(Restamped::default());
    };
    let mut stretch = walk(store, tenant, rule, chunk, from).await?;
    let full = |stretch: &Stretch| stretch.looked >= u64::from(chunk.get());
    if !full(&stretch) {
        // The end, as far as it could be seen: what was on its way comes after it.
        store
            .sessions
            .query(tenant, &BARRIER, &[])
            .await
            .map_err(failed)?;
        let late = walk(store, tenant, rule, chunk, stretch.last).await?;
        stretch = Stretch {
            moved: stretch.moved + late.moved,
            ..late
        };
    }
    let more = full(&stretch);
    let ttl = bigint(rule.ttl.as_secs());
    let params: &[crate::session::Param<'_>] = &[&stretch.last, &!more, &ttl, &rule.extend];
    store
        .sessions
        .query(tenant, &ADVANCE, params)
        .await
        .map_err(failed)?;
    Ok(Restamped {
        rows: stretch.moved,
        more,
    })
}

/// Where the walk for this rule goes on; `None` when it is finished.
async fn place(
    store: &PostgresStore,
    tenant: &TenantId,
    rule: Restamp,
) -> Result<Option<Uuid>, RetentionError> {
    let ttl = bigint(rule.ttl.as_secs());
    let rows = store
        .sessions
        .query(tenant, &READ, &[&ttl, &rule.extend])
        .await;
    let rows = rows.map_err(failed)?;
    known(rows.first(), tenant)?;
    let row = rows.first().map(|row| {
        let (at, finished) = (row.try_get("looked_at"), row.try_get("finished"));
        (at.ok(), finished.unwrap_or(false))
    });
    match row {
        Some((_, true)) => Ok(None),
        Some((Some(at), false)) => Ok(Some(at)),
        _ => {
            let start = Uuid::nil();
            let begun = store
                .sessions
                .query(tenant, &BEGIN, &[&ttl, &rule.extend, &start])
                .await;
            begun.map_err(failed)?;
            Ok(Some(start))
        }
    }
}

async fn walk(
    store: &PostgresStore,
    tenant: &TenantId,
    rule: Restamp,
    chunk: Chunk,
    from: Uuid,
) -> Result<Stretch, RetentionError> {
    let now = store.clock.now().to_system_time();
    let (rows, ttl) = (i64::from(chunk.get()), bigint(rule.ttl.as_secs()));
    let mut moved = 0;
    let mut looks = 0;
    loop {
        let params: &[crate::session::Param<'_>] = &[&now, &rows, &from, &ttl, &rule.extend];
        let answer = store
            .sessions
            .query(tenant, &RESTAMP, params)
            .await
            .map_err(failed)?;
        known(answer.first(), tenant)?;
        let Some(row) = answer.first() else {
            return Ok(Stretch {
                looked: 0,
                moved,
                last: from,
            });
        };
        let row = Reader::of(row, "cross_channel_messages").keyed(&tenant);
        let number = |column| row.number(column).map_err(failed);
        let last: Option<Uuid> = row.get("last").map_err(|error: StoreError| failed(error))?;
        moved += number("moved")?;
        looks += 1;
        if number("moved")? == number("wrong")? || looks == LOOKS {
            return Ok(Stretch {
                looked: number("looked")?,
                moved,
                last: last.unwrap_or(from),
            });
        }
    }
}
