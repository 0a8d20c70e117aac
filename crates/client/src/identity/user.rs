//! A user as they came over the wire.

use throughline_domain::TextFault;
use throughline_platform_identity::{
    ClaimSource, Identity, PlatformKind, PlatformUserId, UnknownKind, User, UserStatus,
};
use throughline_wire::{IdentityBody, UserAnswer};

/// The body is no user that this release knows.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidBody {
    /// A kind of channel.
    #[error(transparent)]
    Kind(#[from] UnknownKind),
    /// A channel's id.
    #[error(transparent)]
    Id(#[from] TextFault),
    /// A word.
    #[error("status or claim_source is not known")]
    Word,
}

pub(super) fn user(answer: UserAnswer) -> Result<User, InvalidBody> {
    let identities: Result<Vec<Identity>, _> =
        answer.identities.into_iter().map(identity).collect();
    Ok(User {
        user_id: answer.user_id,
        status: UserStatus::parse(&answer.status).ok_or(InvalidBody::Word)?,
        identities: identities?,
        merged_user_ids: answer.merged_user_ids,
    })
}

fn identity(body: IdentityBody) -> Result<Identity, InvalidBody> {
    let kind: PlatformKind = body.kind.parse()?;
    Ok(Identity {
        id: PlatformUserId::new(kind, &body.id)?,
        display_name: body.display_name,
        email: body.email,
        email_verified: body.email_verified,
        shared: body.shared,
        first_seen_at: body.first_seen_at,
        last_seen_at: body.last_seen_at,
        claim_source: ClaimSource::parse(&body.claim_source).ok_or(InvalidBody::Word)?,
    })
}
