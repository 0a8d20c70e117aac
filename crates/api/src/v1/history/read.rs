//! `GET /v1/tenants/{tenant}/history?channel_kind=&channel_scope=&limit=`

use axum::extract::State;
use throughline_wire::HistoryAnswer;

use crate::caller::Tenant;
use crate::counters::Read;
use crate::failure::Failure;
use crate::query::Query;
use crate::shared::Shared;
use crate::v1::users::bodies;

/// The latest turns of one channel scope, oldest first, whoever wrote them.
pub(crate) async fn read(
    tenant: Tenant,
    State(shared): State<Shared>,
    query: Query,
) -> Result<axum::Json<HistoryAnswer>, Failure> {
    let turns = tenant.history(&query.scope()?, query.limit()?).await?;
    shared.counters.read(Read::ByChannelScope, 0);
    Ok(axum::Json(HistoryAnswer {
        turns: bodies(turns)?,
        erasure_epoch: tenant.epoch(),
    }))
}
