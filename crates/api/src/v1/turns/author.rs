//! Who said a turn.

use std::sync::Arc;

use throughline_conversation_memory::ClientMessageId;
use throughline_domain::{Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, IdentityError};
use throughline_wire::{Author, Code, Outcome, Problem};

use crate::caller::Tenant;
use crate::failure::Failure;
use crate::shared::Shared;

/// The user of a known author, or of the channel user after resolving it.
pub(super) async fn find(
    tenant: &Tenant,
    shared: &Shared,
    author: &Author,
    said_at: Option<Timestamp>,
) -> Result<UserId, IdentityError> {
    match author {
        Author::User(user) => Ok(*user),
        Author::Channel(user) => resolve(tenant, shared, user, said_at).await,
    }
}

/// Resolves the channel user. What the ref says of the person is taken only from a key that may resolve
/// identities: with `turns:write` alone a caller names people, it does not describe them.
pub(super) async fn resolve(
    tenant: &Tenant,
    shared: &Shared,
    user: &ChannelUser,
    said_at: Option<Timestamp>,
) -> Result<UserId, IdentityError> {
    let result = if tenant.describes_people() {
        tenant.resolve(user, said_at).await
    } else {
        let bare = ChannelUser::new(user.id.kind, user.id.id());
        let bare = bare.map(|bare| bare.with_shared(user.shared()));
        tenant.resolve(bare.as_ref().unwrap_or(user), said_at).await
    };
    shared.counters.resolved(&result);
    // The account, not the person: the turn remembers through which one it came, so that an undone
    // merge gives it back. The store puts the survivor in its place.
    result.map(|resolved| resolved.account_id)
}

/// The refusal of a turn whose author could not be resolved: nothing was stored.
pub(super) fn not_stored(
    shared: &Shared,
    error: Arc<IdentityError>,
    key: &ClientMessageId,
) -> Failure {
    if matches!(*error, IdentityError::Gone) {
        shared.counters.append_refused();
    } else {
        shared.counters.append_not_sent();
    }
    let problem = match &*error {
        IdentityError::UnknownTenant(_) => Problem::new(Code::UnknownTenant, error.to_string()),
        IdentityError::Unavailable(_) => {
            let detail = "the store could not be reached; repeat with the same client_message_id";
            Problem::new(Code::Unavailable, detail).retry_after(1)
        }
        IdentityError::Gone => Problem::new(Code::Gone, error.to_string()),
        // Resolving answers none of the others; whatever comes is ours to explain.
        _ => {
            let detail = "the service made a mistake; report the request_id";
            Problem::new(Code::Internal, detail)
        }
    };
    let problem = problem.about(key.as_str());
    if problem.code == Code::Gone {
        return problem.into();
    }
    Failure::from(problem.with_outcome(Outcome::NotStored)).because(error)
}
