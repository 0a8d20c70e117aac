//! `GET /admin/tenants/{tenant}/reviews?state=&limit=&cursor=`

use throughline_platform_identity::{ReviewQuery, ReviewState};
use throughline_wire::{Code, Place, Problem, ReviewsAnswer};

use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathTenant;
use crate::query::Query;

/// Questions to operators, oldest first, a page at a time.
pub(crate) async fn list(
    operator: Operator,
    PathTenant(name): PathTenant,
    query: Query,
) -> Result<axum::Json<ReviewsAnswer>, Failure> {
    let limit = query.limit()?.get();
    // One more than asked for says whether there is a next page.
    let asked = ReviewQuery {
        state: state(&query)?,
        after: after(&query)?,
        limit: limit + 1,
    };
    let mut reviews = operator.identity().reviews(&name, &asked).await?;
    let more = reviews.len() > limit as usize;
    reviews.truncate(limit as usize);
    let last = reviews.last().filter(|_| more);
    Ok(axum::Json(ReviewsAnswer {
        next_cursor: last.map(|review| review.id.to_string()),
        reviews: reviews.into_iter().map(Into::into).collect(),
    }))
}

fn state(query: &Query) -> Result<Option<ReviewState>, Problem> {
    let Some(word) = query.text("state")? else {
        return Ok(None);
    };
    let state = ReviewState::parse(&word);
    let detail = "state must be open, accepted or declined";
    state
        .map(Some)
        .ok_or_else(|| Place::Parameter("state").invalid(detail))
}

fn after(query: &Query) -> Result<Option<throughline_domain::ReviewId>, Problem> {
    let cursor = query.text("cursor")?.map(|cursor| cursor.parse());
    cursor.transpose().map_err(|_| {
        let detail = "the cursor was not made for this list";
        Place::Parameter("cursor").problem(Code::InvalidCursor, detail)
    })
}
