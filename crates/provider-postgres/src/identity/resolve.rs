//! Channel user → user, making one at first sight.

use throughline_domain::TenantId;
use throughline_platform_identity::{ChannelUser, IdentityError, Resolved};

use super::known::{self, Known};
use super::{first_sight, later_sight};
use crate::error::StoreError;
use crate::store::PostgresStore;
use crate::transaction::{Failed, TRIES};

/// One indexed look-up is the way of nearly every call (D-20).
pub(super) async fn resolve(
    store: &PostgresStore,
    tenant: &TenantId,
    who: &ChannelUser,
) -> Result<Resolved, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        if let Some(known) = Known::find(&session, tenant, who).await? {
            let now = store.clock.now();
            if !known.is_outdated(who, now) {
                return Ok(known.resolved());
            }
            if known.policy.is_none() {
                known::touch(&session, tenant, who, &known, now).await?;
                return Ok(known.resolved());
            }
            session.begin().await?;
            let outcome = later_sight::see(store, &session, tenant, who, now).await;
            if let Some(resolved) = session.end(outcome).await? {
                return Ok(resolved);
            }
            continue;
        }
        session.begin().await?;
        // Somebody else may be first: the next look sees their row.
        let outcome = first_sight::see(store, &session, tenant, who).await;
        if let Some(resolved) = session.end(outcome).await? {
            return Ok(resolved);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}
