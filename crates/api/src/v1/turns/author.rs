//! Who said a turn.

use throughline_conversation_memory::ClientMessageId;
use throughline_domain::UserId;
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
) -> Result<UserId, IdentityError> {
    match author {
        Author::User(user) => Ok(*user),
        Author::Channel(user) => resolve(tenant, shared, user).await,
    }
}

/// Resolves the channel user. What the ref says of the person is taken only from a key that may resolve
/// identities: with `turns:write` alone a caller names people, it does not describe them.
pub(super) async fn resolve(
    tenant: &Tenant,
    shared: &Shared,
    user: &ChannelUser,
) -> Result<UserId, IdentityError> {
    let result = if tenant.describes_people() {
        tenant.resolve(user).await
    } else {
        let bare = ChannelUser::new(user.id.kind, user.id.id());
        let bare = bare.map(|bare| bare.with_shared(user.shared()));
        tenant.resolve(bare.as_ref().unwrap_or(user)).await
    };
    shared.counters.resolved(&result);
    // The account, not the person: the turn remembers through which one it came, so that an undone
    // merge gives it back. The store puts the survivor in its place.
    result.map(|resolved| resolved.account_id)
}

/// The refusal of a turn whose author could not be resolved: nothing was stored.
pub(super) fn not_stored(shared: &Shared, error: &IdentityError, key: &ClientMessageId) -> Failure {
    shared.counters.append_not_sent();
    let problem = match error {
        IdentityError::UnknownTenant(_) => Problem::new(Code::UnknownTenant, error.to_string()),
        IdentityError::Unavailable(_) => {
            let detail = "the store could not be reached; repeat with the same client_message_id";
            Problem::new(Code::Unavailable, detail).retry_after(1)
        }
        // Resolving answers none of the others; whatever comes is ours to explain.
        _ => {
            let detail = "the service made a mistake; report the request_id";
            Problem::new(Code::Internal, detail)
        }
    };
    problem
        .about(key.as_str())
        .with_outcome(Outcome::NotStored)
        .into()
}
