//! `GET /v1/tenants/{tenant}/users/{user_id}`

use throughline_wire::{Code, UserAnswer};

use crate::caller::Tenant;
use crate::failure::Failure;
use crate::path::PathUser;

/// The user with identities and counters; a merged id answers with its survivor.
pub(crate) async fn user(
    tenant: Tenant,
    PathUser(id): PathUser,
) -> Result<axum::Json<UserAnswer>, Failure> {
    let user = tenant.user(id).await?.ok_or_else(|| {
        let detail = "the tenant has no such user; resolve the channel user again";
        Failure::new(Code::UnknownUser, detail)
    })?;
    let usage = tenant.usage(user.user_id).await?;
    Ok(axum::Json(UserAnswer::new(user, usage)))
}
