//! The author of an append that waited, as identity knows them.

use throughline_conversation_memory::AuthorRef;
use throughline_platform_identity::ChannelUser;

/// `None` for a kind or a text that no release of today takes.
pub(crate) fn channel_user(author: &AuthorRef) -> Option<ChannelUser> {
    let kind = author.kind.parse().ok()?;
    let mut user = ChannelUser::new(kind, &author.id).ok()?;
    if let Some(name) = &author.display_name {
        user = user.with_display_name(name).ok()?;
    }
    if let Some(email) = &author.email {
        user = user.with_email(email, author.email_verified).ok()?;
    }
    Some(user.with_shared(author.shared))
}
