//! `POST /admin/operators/keys`

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_wire::{MintOperatorKeyBody, MintedKeyAnswer};

use crate::body::Json;
use crate::caller::Operator;
use crate::failure::Failure;

/// Makes an operator's key and shows it, this once.
pub(crate) async fn mint(
    operator: Operator,
    Json(body): Json<MintOperatorKeyBody>,
) -> Result<Response, Failure> {
    let (actor, label) = body.check()?;
    let minted = operator.tenancy().mint_operator_key(&actor, &label).await?;
    tracing::info!("operator key minted");
    Ok((
        StatusCode::CREATED,
        axum::Json(MintedKeyAnswer::from(minted)),
    )
        .into_response())
}
