//! Making, reading and changing tenants.

use throughline_domain::TenantId;
use throughline_tenancy::{TenancyError, Tenant, TenantConfig, TenantStatus};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::error::StoreError;
use crate::identity::back_fill;
use crate::row::{Reader, bigint};
use crate::statement::{ForOperator, ForTenant, Statement};
use crate::store::PostgresStore;

pub(crate) static CREATE: ForTenant = ForTenant(Statement {
    name: "tenant_create",
    sql: include_str!("tenant_create.sql"),
    params: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TIMESTAMPTZ],
});

pub(crate) static READ: ForTenant = ForTenant(Statement {
    name: "tenant_read",
    sql: "-- tenant_read\n\
          select tenant_id, status, config::text as config, config_revision, erasure_epoch, created_at\n\
          from tenants\n\
          where tenant_id = $1",
    params: &[Type::TEXT],
});

pub(crate) static LIST: ForOperator = ForOperator(Statement {
    name: "tenant_list",
    sql: "-- tenant_list\n\
          select tenant_id, status, config::text as config, config_revision, erasure_epoch, created_at\n\
          from tenants\n\
          where tenant_id > $1\n\
          order by tenant_id\n\
          limit $2",
    params: &[Type::TEXT, Type::INT8],
});

pub(crate) static CONFIGURE: ForTenant = ForTenant(Statement {
    name: "tenant_configure",
    sql: "-- tenant_configure\n\
          update tenants\n\
          set config = $2::text::jsonb, config_revision = config_revision + 1\n\
          where tenant_id = $1\n\
          and ($3::bigint is null or config_revision = $3)\n\
          returning tenant_id, status, config::text as config, config_revision, erasure_epoch, created_at",
    params: &[Type::TEXT, Type::TEXT, Type::INT8],
});

pub(crate) static SET_STATUS: ForTenant = ForTenant(Statement {
    name: "tenant_set_status",
    sql: "-- tenant_set_status\n\
          update tenants\n\
          set status = $2\n\
          where tenant_id = $1\n\
          returning tenant_id, status, config::text as config, config_revision, erasure_epoch, created_at",
    params: &[Type::TEXT, Type::TEXT],
});

pub(super) async fn create(
    store: &PostgresStore,
    tenant: &TenantId,
    config: &TenantConfig,
) -> Result<Tenant, TenancyError> {
    config.validate()?;
    let active = TenantStatus::Active.as_str();
    let created_at = store.clock.now().to_system_time();
    let rows = store
        .sessions
        .query(tenant, &CREATE, &[&active, &written(config)?, &created_at])
        .await
        .map_err(|error| error.tenancy(None))?;
    first(&rows)?.ok_or_else(|| TenancyError::TenantExists(tenant.clone()))
}

pub(super) async fn read(
    store: &PostgresStore,
    tenant: &TenantId,
) -> Result<Option<Tenant>, TenancyError> {
    let rows = store.sessions.query(tenant, &READ, &[]).await;
    first(&rows.map_err(|error| error.tenancy(None))?)
}

pub(super) async fn list(
    store: &PostgresStore,
    after: Option<&TenantId>,
    limit: u32,
) -> Result<Vec<Tenant>, TenancyError> {
    // Every name is greater than the empty text.
    let after = after.map_or("", TenantId::as_str);
    let rows = store
        .sessions
        .query_as_operator(&LIST, &[&after, &i64::from(limit)])
        .await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    rows.iter()
        .map(|row| tenant_of(row).map_err(|error| error.tenancy(None)))
        .collect()
}

pub(super) async fn configure(
    store: &PostgresStore,
    tenant: &TenantId,
    config: &TenantConfig,
    expected_revision: Option<u64>,
) -> Result<Tenant, TenancyError> {
    config.validate()?;
    let text = written(config)?;
    let rows = change_rules(
        store,
        tenant,
        (config, &text),
        expected_revision.map(bigint),
    )
    .await
    .map_err(|error| error.tenancy(None))?;
    if let Some(changed) = first(&rows)? {
        return Ok(changed);
    }
    match read(store, tenant).await? {
        Some(Tenant {
            config_revision: current,
            ..
        }) => Err(TenancyError::StaleRevision { current }),
        None => Err(TenancyError::UnknownTenant(tenant.clone())),
    }
}

/// A transaction: rules by which more addresses join people come with the claims of those who
/// verified one earlier (D-06).
async fn change_rules(
    store: &PostgresStore,
    tenant: &TenantId,
    (config, text): (&TenantConfig, &str),
    expected_revision: Option<i64>,
) -> Result<Vec<Row>, StoreError> {
    let session = store.sessions.session().await?;
    let bound = session.bound(tenant);
    session.begin().await?;
    let done = async {
        let before = bound.query(&READ, &[]).await?;
        let rows = bound
            .query(&CONFIGURE, &[&text, &expected_revision])
            .await?;
        let before = before.first().map(tenant_of).transpose()?;
        let more = before.is_some_and(|before| config.claims_more_than(&before.config));
        if more && !rows.is_empty() {
            back_fill(store, &session, tenant, text).await?;
        }
        Ok(rows)
    };
    match done.await {
        Ok(rows) => session.commit().await.map(|()| rows),
        Err(error) => {
            // A lost connection cannot roll back; the first error is the one to tell.
            let _ = session.rollback().await;
            Err(error)
        }
    }
}

pub(super) async fn set_status(
    store: &PostgresStore,
    tenant: &TenantId,
    status: TenantStatus,
) -> Result<Tenant, TenancyError> {
    let rows = store
        .sessions
        .query(tenant, &SET_STATUS, &[&status.as_str()])
        .await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    first(&rows)?.ok_or_else(|| TenancyError::UnknownTenant(tenant.clone()))
}

fn written(config: &TenantConfig) -> Result<String, TenancyError> {
    serde_json::to_string(config).map_err(|error| TenancyError::Unavailable(Box::new(error)))
}

fn first(rows: &[Row]) -> Result<Option<Tenant>, TenancyError> {
    let tenant = rows.first().map(tenant_of).transpose();
    tenant.map_err(|error| error.tenancy(None))
}

fn tenant_of(row: &Row) -> Result<Tenant, StoreError> {
    let name: String = row.try_get("tenant_id").unwrap_or_default();
    let row = Reader::of(row, "tenants").keyed(&name);
    Ok(Tenant {
        id: row.parsed("tenant_id", |name| TenantId::parse(name).ok())?,
        status: row.parsed("status", TenantStatus::parse)?,
        config: row.parsed("config", |text| serde_json::from_str(text).ok())?,
        config_revision: row.number("config_revision")?,
        erasure_epoch: row.number("erasure_epoch")?,
        created_at: row.time("created_at")?,
    })
}
