//! Channel users that the cases share.

use throughline_domain::{TenantId, UserId};

use super::Subject;
use crate::{ChannelUser, Identity, PlatformKind, PlatformUserId, User};

/// Three names that a prefix, a glued key or a loose collation would mix up (failures.md 10).
pub(super) const LOOKALIKES: [&str; 3] = ["acme", "acme-corp", "acme_corp"];

/// A Slack user of whom nothing more is known.
pub(super) fn slack(id: &str) -> ChannelUser {
    ChannelUser::new(PlatformKind::SlackUser, id).expect("a plain id")
}

/// The same with a name.
pub(super) fn named(id: &str, name: &str) -> ChannelUser {
    slack(id).with_display_name(name).expect("a plain name")
}

/// The same with an address.
pub(super) fn mailed(id: &str, email: &str, verified: Option<bool>) -> ChannelUser {
    slack(id)
        .with_email(email, verified)
        .expect("a plain address")
}

pub(super) fn platform_id(kind: PlatformKind, id: &str) -> PlatformUserId {
    PlatformUserId::new(kind, id).expect("a usable id")
}

/// A user id that nobody has.
pub(super) fn nobody() -> UserId {
    UserId::from_u128(0x0193_0000_0000_0000_0000_0000_0000_dead)
}

/// Resolves and gives the id.
pub(super) async fn resolved(
    subject: &dyn Subject,
    tenant: &TenantId,
    who: &ChannelUser,
) -> UserId {
    let resolved = subject.identity().resolve(tenant, who).await;
    resolved.expect("resolves").user_id
}

/// Reads a user that is there.
pub(super) async fn read(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> User {
    let read = subject.identity().user(tenant, user).await;
    read.expect("reads").expect("a known user")
}

/// Reads a user's only identity.
pub(super) async fn only_identity(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: UserId,
) -> Identity {
    let mut identities = read(subject, tenant, user).await.identities;
    assert_eq!(identities.len(), 1);
    identities.remove(0)
}
