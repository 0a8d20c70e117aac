//! What the tenant says about addresses; also whether there is such a tenant.

use throughline_domain::TenantId;
use throughline_platform_identity::{ClaimPolicy, IdentityError};
use throughline_tenancy::TenantConfig;
use tokio_postgres::types::Type;

use crate::row::Reader;
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::transaction::Abort;

pub(super) static POLICY: ForTenant = ForTenant(Statement {
    name: "claim_policy",
    sql: "-- claim_policy\n\
          select config::text as config\n\
          from tenants\n\
          where tenant_id = $1",
    params: &[Type::TEXT],
});

pub(super) async fn policy(
    session: &Session<'_>,
    tenant: &TenantId,
) -> Result<ClaimPolicy, Abort<IdentityError>> {
    let rows = session.bound(tenant).query(&POLICY, &[]).await?;
    let row = rows
        .first()
        .ok_or_else(|| IdentityError::UnknownTenant(tenant.clone()))?;
    let row = Reader::of(row, "tenants").keyed(&tenant);
    Ok(of_config(row.get("config")?).ok_or_else(|| row.corrupt("config"))?)
}

pub(super) fn of_config(text: &str) -> Option<ClaimPolicy> {
    let config: TenantConfig = serde_json::from_str(text).ok()?;
    Some(ClaimPolicy {
        auto_merge: config.auto_merge_on_email,
        ttl: config.email_claim_ttl(),
        verified_kinds: config.verified_email_kinds,
    })
}

/// Refuses a tenant that is not there.
pub(super) async fn known_tenant(
    session: &Session<'_>,
    tenant: &TenantId,
) -> Result<(), Abort<IdentityError>> {
    policy(session, tenant).await.map(drop)
}
