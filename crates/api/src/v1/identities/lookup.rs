//! `GET /v1/tenants/{tenant}/identities?kind=&id=`

use throughline_platform_identity::{PlatformKind, PlatformUserId};
use throughline_wire::{Code, LookupAnswer, Place, text_problem};

use crate::caller::Tenant;
use crate::failure::Failure;
use crate::query::Query;

/// The user behind a channel's user that was seen before; 404 otherwise. Changes nothing.
pub(crate) async fn lookup(
    tenant: Tenant,
    query: Query,
) -> Result<axum::Json<LookupAnswer>, Failure> {
    let kind: PlatformKind = query
        .required("kind")?
        .parse()
        .map_err(|unknown| Place::Parameter("kind").invalid(format!("{unknown}")))?;
    let id = PlatformUserId::new(kind, &query.required("id")?)
        .map_err(|fault| text_problem(&fault, Place::Parameter("id")))?;
    let user_id = tenant.lookup(&id).await?.ok_or_else(|| {
        let detail = "the channel user was never resolved; resolve it first";
        Failure::new(Code::UnknownUser, detail)
    })?;
    Ok(axum::Json(LookupAnswer { user_id }))
}
