//! An operator takes an address out of joining (D-07 c).

use throughline_conversation_memory::{AuditDetail, RevokeClaim};
use throughline_domain::{Actor, TenantId};
use throughline_platform_identity::{
    ClaimEffect, ClaimState, IdentityError, NormalizedEmail, RevokedClaim,
};

use super::claims;
use super::policy::known_tenant;
use crate::audit::{self, Entry};
use crate::error::StoreError;
use crate::session::Session;
use crate::store::PostgresStore;
use crate::transaction::{Abort, Failed, TRIES};

pub(super) async fn revoke_claim(
    store: &PostgresStore,
    tenant: &TenantId,
    email: &NormalizedEmail,
    actor: &Actor,
) -> Result<RevokedClaim, Failed<IdentityError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        session.begin().await?;
        let outcome = once(store, &session, tenant, email, actor).await;
        if let Some(revoked) = session.end(outcome).await? {
            return Ok(revoked);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

async fn once(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    email: &NormalizedEmail,
    actor: &Actor,
) -> Result<RevokedClaim, Abort<IdentityError>> {
    known_tenant(session, tenant).await?;
    let claim = claims::lock(session, tenant, email).await?;
    let (stored, holder) = claim.ok_or(Abort::Refused(IdentityError::UnknownClaim))?;
    let was = stored.state;
    if was == ClaimState::Revoked {
        return Err(Abort::Refused(IdentityError::NoChange));
    }
    let now = store.clock.now();
    let seen = (stored.account, now);
    claims::apply(session, tenant, (email, &stored), ClaimEffect::Revoke, seen).await?;
    let detail = AuditDetail::RevokeClaim(RevokeClaim {
        previous_state: was.as_str().to_owned(),
    });
    let entry = Entry {
        actor,
        user: Some(holder.root),
        target: None,
        detail: &detail,
        now,
    };
    audit::write(store, session, tenant, entry).await?;
    Ok(RevokedClaim {
        user_id: holder.root,
        was,
    })
}
