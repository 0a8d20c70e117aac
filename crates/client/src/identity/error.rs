//! From a failed call to an error of the trait.

use throughline_domain::{MergeId, ReviewId, TenantId, UserId};
use throughline_platform_identity::IdentityError;
use throughline_wire::Code;

use crate::retry::Failed;

/// What a call was about: the service's code says what is wrong, the caller knows with whom.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    None,
    User(UserId),
    Merge(MergeId),
    Review(ReviewId),
}

/// Anything that the trait has no word for is "not available", with the client's error behind it.
pub(super) fn of(failed: Failed, tenant: &TenantId, subject: Subject) -> IdentityError {
    match (failed.error.code(), subject) {
        (Some(Code::UnknownTenant), _) => IdentityError::UnknownTenant(tenant.clone()),
        (Some(Code::UnknownUser), Subject::User(user)) => IdentityError::UnknownUser(user),
        (Some(Code::Gone), _) => IdentityError::Gone,
        (Some(Code::UnknownClaim), _) => IdentityError::UnknownClaim,
        (Some(Code::NoChange), _) => IdentityError::NoChange,
        (Some(Code::UnknownMerge), Subject::Merge(merge)) => IdentityError::UnknownMerge(merge),
        (Some(Code::AlreadyUndone), Subject::Merge(merge)) => IdentityError::AlreadyUndone(merge),
        (Some(Code::UnknownReview), Subject::Review(review)) => {
            IdentityError::UnknownReview(review)
        }
        (Some(Code::AlreadyDecided), Subject::Review(review)) => {
            IdentityError::AlreadyDecided(review)
        }
        _ => IdentityError::Unavailable(Box::new(failed.error)),
    }
}
