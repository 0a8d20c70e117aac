//! Bodies about claims on addresses.

use serde::{Deserialize, Serialize};
use throughline_domain::UserId;
use throughline_platform_identity::{NormalizedEmail, RevokedClaim};
use utoipa::ToSchema;

use crate::{Place, Problem};

/// `POST /admin/tenants/{tenant}/claims/revoke`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClaimBody {
    /// The address, in any spelling that means the same mailbox.
    pub email: String,
}

impl ClaimBody {
    /// The normal form.
    pub fn check(&self) -> Result<NormalizedEmail, Problem> {
        NormalizedEmail::of(&self.email)
            .ok_or_else(|| Place::Body("/email").invalid("email is no address that can be claimed"))
    }
}

/// Without the address.
impl std::fmt::Debug for ClaimBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClaimBody(***)")
    }
}

/// The claim joins nobody any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RevokedClaimAnswer {
    /// Who held it.
    #[schema(value_type = String)]
    pub user_id: UserId,
    /// What it was: `live` or `lapsed`.
    pub previous_state: String,
    /// What it is: `revoked`.
    pub state: String,
}

impl From<RevokedClaim> for RevokedClaimAnswer {
    fn from(revoked: RevokedClaim) -> Self {
        Self {
            user_id: revoked.user_id,
            previous_state: revoked.was.as_str().to_owned(),
            state: "revoked".to_owned(),
        }
    }
}
