//! Channel user → user for a message that waited: never who was erased meanwhile (T-37).

use throughline_domain::{TenantId, Timestamp};
use throughline_platform_identity::{ChannelUser, IdentityError, PlatformUserId, Resolved};
use tokio_postgres::types::Type;

use super::known::Known;
use super::resolve;
use crate::error::StoreError;
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;
use crate::transaction::{Failed, TRIES};

pub(super) static ERASED: ForTenant = ForTenant(Statement {
    name: "resolve_erased",
    sql: "-- resolve_erased\n\
          select e.erased_at\n\
          from erased_refs e\n\
          where e.tenant_id = $1\n\
          and e.ref_digest = $2\n\
          and e.erased_at >= $3",
    params: &[Type::TEXT, Type::BYTEA, Type::TIMESTAMPTZ],
});

/// Each way looks for the erasure after it looked for the person. One that commits in between is seen,
/// or the person found is the erased one, whom the append's fence refuses.
pub(super) async fn resolve(
    store: &PostgresStore,
    tenant: &TenantId,
    who: &ChannelUser,
    queued_at: Timestamp,
) -> Result<Resolved, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        if let Some(known) = Known::find(&session, tenant, who).await? {
            if is_erased(&session, tenant, &who.id, queued_at).await? {
                return Err(Failed::Refused(IdentityError::Gone));
            }
            return Ok(known.resolved());
        }
        session.begin().await?;
        let outcome = resolve::first(store, &session, tenant, who, Some(queued_at)).await;
        if let Some(resolved) = session.end(outcome).await? {
            return Ok(resolved);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

/// Whether the channel user was erased at that moment or later.
pub(super) async fn is_erased(
    session: &Session<'_>,
    tenant: &TenantId,
    who: &PlatformUserId,
    queued_at: Timestamp,
) -> Result<bool, StoreError> {
    let digest = who.digest(tenant);
    let params: [crate::session::Param<'_>; 2] = [&digest.as_slice(), &queued_at.to_system_time()];
    let found = session.bound(tenant).query(&ERASED, &params).await?;
    Ok(!found.is_empty())
}
