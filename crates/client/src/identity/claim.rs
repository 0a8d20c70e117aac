//! Taking an address out of joining.

use http::Method;
use throughline_domain::TenantId;
use throughline_platform_identity::{ClaimState, IdentityError, NormalizedEmail, RevokedClaim};
use throughline_wire::{ClaimBody, RevokedClaimAnswer, paths};

use super::by_operator;
use super::error::{Subject, of};
use crate::ClientError;
use crate::client::Client;
use crate::retry::Failed;

pub(super) async fn revoke(
    client: &Client,
    tenant: &TenantId,
    email: &NormalizedEmail,
) -> Result<RevokedClaim, IdentityError> {
    let body = ClaimBody {
        email: email.as_str().to_owned(),
    };
    let path = paths::fill(paths::ADMIN_CLAIM_REVOKE, tenant, &[]);
    let call = by_operator(tenant, Method::POST, path).carrying(&body);
    let revoked = async {
        let answer = client.send(&call, client.deadline()).await?;
        let answer: RevokedClaimAnswer = answer.read()?;
        let was = ClaimState::parse(&answer.previous_state);
        Ok(RevokedClaim {
            user_id: answer.user_id,
            was: was.ok_or_else(|| ClientError::unreadable(200, "previous_state"))?,
        })
    };
    revoked
        .await
        .map_err(|failed: Failed| of(failed, tenant, Subject::None))
}
