//! From a failed call to what a caller of `append` can tell apart.

use throughline_conversation_memory::{AppendError, Cause, ClientMessageId, RejectReason};
use throughline_domain::TenantId;
use throughline_wire::{Code, Refusal};

use crate::retry::Failed;
use crate::{ClientError, Effect};

/// `Rejected` only when the service looked at the turn and refused it for good; everything about keys,
/// limits, the way there or a suspended tenant passes without a change of the turn, so it is `Transport`
/// when nothing was stored for sure and `Timeout` otherwise.
pub(crate) fn append_error(
    tenant: &TenantId,
    key: &ClientMessageId,
    failed: Failed,
) -> AppendError {
    let key = key.clone();
    if let ClientError::Refused(refusal) = &failed.error
        && let Some(reason) = rejection(tenant, refusal)
    {
        tracing::debug!(
            tenant.id = tenant.as_str(),
            problem.code = refusal.word(),
            problem.pointer = refusal.pointer,
            request.id = refusal.request_id,
            "a turn was refused"
        );
        return AppendError::Rejected { key, reason };
    }
    let cause = Cause::new(failed.error);
    match failed.effect {
        Effect::None => AppendError::Transport { key, cause },
        Effect::Unknown => AppendError::Timeout { key, cause },
    }
}

/// Why the turn itself is refused; `None` when it is not the turn.
fn rejection(tenant: &TenantId, refusal: &Refusal) -> Option<RejectReason> {
    let Some(code) = refusal.code() else {
        // A newer release's code: these statuses are about the request, whatever the word.
        let about_the_turn = matches!(refusal.status, 400 | 409 | 410 | 413 | 415 | 422);
        return about_the_turn.then_some(RejectReason::Unstorable);
    };
    match code {
        Code::UnknownTenant => Some(RejectReason::UnknownTenant(tenant.clone())),
        Code::UnknownUser => Some(RejectReason::UnknownUser),
        Code::IdempotencyMismatch => Some(RejectReason::IdempotencyMismatch),
        Code::Gone => Some(RejectReason::Gone),
        Code::Expired => Some(RejectReason::Expired),
        Code::InvalidJson
        | Code::PayloadTooLarge
        | Code::UnsupportedMediaType
        | Code::BatchTooLarge
        | Code::EmptyTurn
        | Code::InvalidAuthor
        | Code::InvalidParameter
        | Code::InvalidRequest
        | Code::InvalidText
        | Code::ReservedField
        | Code::Unsupported => Some(RejectReason::Unstorable),
        // Listed, so that a new code is thought about here.
        Code::Unauthorized
        | Code::Forbidden
        | Code::TenantMismatch
        | Code::TenantSuspended
        | Code::NotFound
        | Code::UnknownKey
        | Code::UnknownEntry
        | Code::UnknownJob
        | Code::UnknownClaim
        | Code::UnknownMerge
        | Code::UnknownReview
        | Code::MethodNotAllowed
        | Code::Timeout
        | Code::TenantExists
        | Code::DeadLetter
        | Code::JobRunning
        | Code::StaleRevision
        | Code::NoChange
        | Code::AlreadyUndone
        | Code::AlreadyDecided
        | Code::InvalidConfig
        | Code::InvalidCursor
        | Code::InvalidLimit
        | Code::RateLimited
        | Code::Internal
        | Code::Overloaded
        | Code::Unavailable => None,
    }
}
