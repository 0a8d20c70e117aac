//! `GET /admin/tenants?limit=&cursor=`

use throughline_wire::{NameCursor, Problem, TenantsAnswer};

use crate::caller::Operator;
use crate::failure::Failure;
use crate::query::Query;

/// The tenants in name order, a page at a time.
pub(crate) async fn list(
    operator: Operator,
    query: Query,
) -> Result<axum::Json<TenantsAnswer>, Failure> {
    let limit = query.limit()?.get();
    let after = query
        .text("cursor")?
        .map(|cursor| NameCursor::decode(&cursor));
    let after = after.transpose().map_err(Problem::from)?;
    // One more than asked for says whether there is a next page.
    let mut tenants = operator
        .tenancy()
        .tenants(after.as_ref(), limit + 1)
        .await?;
    let more = tenants.len() > limit as usize;
    tenants.truncate(limit as usize);
    let last = tenants.last().filter(|_| more);
    Ok(axum::Json(TenantsAnswer {
        next_cursor: last.map(|tenant| NameCursor::encode(&tenant.id)),
        tenants: tenants.into_iter().map(Into::into).collect(),
    }))
}
