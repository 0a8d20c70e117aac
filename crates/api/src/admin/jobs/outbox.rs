//! `POST /admin/jobs/outbox/run`

use throughline_wire::OutboxRunAnswer;

use crate::caller::Operator;

/// One sweep over everything that waits in the outbox and in this process's spool, now.
pub(crate) async fn outbox(operator: Operator) -> axum::Json<OutboxRunAnswer> {
    axum::Json(operator.sweep().await)
}
