//! Channel user → user, making one at first sight.

use throughline_domain::{TenantId, Timestamp};
use throughline_platform_identity::{ChannelUser, IdentityError, Resolved};

use super::known::{self, Known};
use super::{first_sight, later_sight, queued};
use crate::error::StoreError;
use crate::session::Session;
use crate::store::PostgresStore;
use crate::transaction::{Abort, Failed, TRIES};

/// One indexed look-up is the way of nearly every call (D-20): whether they were erased since they said
/// something is asked only where that can be, of somebody new or of words older than the acquaintance.
pub(super) async fn resolve(
    store: &PostgresStore,
    tenant: &TenantId,
    who: &ChannelUser,
    said_at: Option<Timestamp>,
) -> Result<Resolved, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        if let Some(known) = Known::find(&session, tenant, who).await? {
            if let Some(said_at) = said_at
                && known.may_have_come_back_since(said_at)
                && queued::is_erased(&session, tenant, &who.id, said_at).await?
            {
                return Err(Failed::Refused(IdentityError::Gone));
            }
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
        let outcome = first(store, &session, tenant, who, said_at).await;
        if let Some(resolved) = session.end(outcome).await? {
            return Ok(resolved);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

/// Looks for the erasure last: one that commits in between is seen.
pub(super) async fn first(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    who: &ChannelUser,
    said_at: Option<Timestamp>,
) -> Result<Resolved, Abort<IdentityError>> {
    let resolved = first_sight::see(store, session, tenant, who).await?;
    if let Some(said_at) = said_at
        && queued::is_erased(session, tenant, &who.id, said_at).await?
    {
        return Err(Abort::Refused(IdentityError::Gone));
    }
    Ok(resolved)
}
