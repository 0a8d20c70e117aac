//! A handler's refusal: the problem for the caller and the cause for the log.

use std::error::Error;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use throughline_conversation_memory::{MemoryError, OutboxError};
use throughline_erasure::ErasureError;
use throughline_platform_identity::IdentityError;
use throughline_tenancy::TenancyError;
use throughline_wire::{Code, Problem};

/// Answered as `application/problem+json` by [`crate::observe`], which adds the request id and logs the
/// cause once.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) problem: Problem,
    pub(crate) cause: Option<Box<dyn Error + Send + Sync>>,
}

/// How a failure travels inside a response until it is written.
#[derive(Clone)]
pub(crate) struct Carried(pub(crate) Arc<Failure>);

impl Failure {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Problem::new(code, detail).into()
    }

    /// The store is not available.
    pub(crate) fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let detail = "the store is not available; repeat the request";
        Self::from(Problem::new(Code::Unavailable, detail).retry_after(1)).because(cause)
    }

    /// Our mistake; the caller learns nothing more.
    pub(crate) fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let detail = "the service made a mistake; report the request_id";
        Self::new(Code::Internal, detail).because(cause)
    }

    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    pub(crate) fn unknown_tenant(error: &impl ToString) -> Self {
        Self::new(Code::UnknownTenant, error.to_string())
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            cause: None,
        }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::UnknownTenant(_) => Self::unknown_tenant(&error),
            MemoryError::Unavailable(_) => Self::unavailable(error),
            MemoryError::Corrupt { .. } => Self::internal(error),
        }
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::UnknownTenant(_) => Self::unknown_tenant(&error),
            IdentityError::UnknownUser(_) => Self::new(Code::UnknownUser, error.to_string()),
            IdentityError::UnknownMerge(_) => Self::new(Code::UnknownMerge, error.to_string()),
            IdentityError::UnknownClaim => Self::new(Code::UnknownClaim, error.to_string()),
            IdentityError::UnknownReview(_) => Self::new(Code::UnknownReview, error.to_string()),
            IdentityError::Gone => Self::new(Code::Gone, error.to_string()),
            IdentityError::NoChange => Self::new(Code::NoChange, error.to_string()),
            IdentityError::AlreadyUndone(_) => Self::new(Code::AlreadyUndone, error.to_string()),
            IdentityError::AlreadyDecided(_) => Self::new(Code::AlreadyDecided, error.to_string()),
            IdentityError::Unavailable(_) => Self::unavailable(error),
            IdentityError::Corrupt { .. } => Self::internal(error),
        }
    }
}

/// What an operator's call on the outbox answers; none of them queues a turn.
impl From<OutboxError> for Failure {
    fn from(error: OutboxError) -> Self {
        match error {
            OutboxError::UnknownTenant(_) => Self::unknown_tenant(&error),
            OutboxError::Unavailable(_) => Self::unavailable(error),
            OutboxError::KeyConflict(_)
            | OutboxError::Gone
            | OutboxError::Unscanned
            | OutboxError::Corrupt { .. } => Self::internal(error),
        }
    }
}

impl From<ErasureError> for Failure {
    fn from(error: ErasureError) -> Self {
        match error {
            ErasureError::UnknownTenant(_) => Self::unknown_tenant(&error),
            ErasureError::UnknownUser(_) => Self::new(Code::UnknownUser, error.to_string()),
            ErasureError::Unavailable(_) => Self::unavailable(error),
            ErasureError::Corrupt { .. } => Self::internal(error),
        }
    }
}

impl From<TenancyError> for Failure {
    fn from(error: TenancyError) -> Self {
        let text = error.to_string();
        match error {
            TenancyError::TenantExists(_) => Self::new(Code::TenantExists, text),
            TenancyError::UnknownTenant(_) => Self::unknown_tenant(&text),
            TenancyError::UnknownKey(_) => Self::new(Code::UnknownKey, text),
            TenancyError::InvalidConfig(fault) => {
                Problem::new(Code::InvalidConfig, fault.to_string())
                    .at(format!("/config{}", fault.path))
                    .into()
            }
            TenancyError::StaleRevision { current } => {
                let mut problem = Problem::new(Code::StaleRevision, text);
                problem.current_revision = Some(current);
                problem.into()
            }
            TenancyError::Unavailable(_) => Self::unavailable(error),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.extensions_mut().insert(Carried(Arc::new(self)));
        response
    }
}

/// The error and everything behind it, in one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
