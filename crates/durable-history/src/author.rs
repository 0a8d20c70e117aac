//! Whose a turn is, on its way to the store.

use throughline_conversation_memory::{AuthorRef, QueuedAuthor};
use throughline_platform_identity::ChannelUser;

use crate::TurnContext;

/// The author a context names: the user if they are resolved, else the channel user, to be resolved
/// before the turn is stored. `None` if it names nobody.
pub(crate) fn author(context: &TurnContext) -> Option<QueuedAuthor> {
    if let Some(user) = context.user_id {
        return Some(QueuedAuthor::User(user));
    }
    let user = context.user_ref.as_ref()?;
    Some(QueuedAuthor::Ref(AuthorRef {
        kind: user.id.kind.as_str().to_owned(),
        id: user.id.id().to_owned(),
        display_name: user.display_name().map(str::to_owned),
        email: user.email().map(str::to_owned),
        email_verified: user.email_verified(),
        shared: user.shared(),
    }))
}

/// The channel user again; `None` for one that today's release would not take.
pub(crate) fn channel_user(author: &AuthorRef) -> Option<ChannelUser> {
    let named = ChannelUser::new(author.kind.parse().ok()?, &author.id).ok()?;
    let named = match &author.display_name {
        Some(name) => named.with_display_name(name).ok()?,
        None => named,
    };
    let named = match &author.email {
        Some(email) => named.with_email(email, author.email_verified).ok()?,
        None => named,
    };
    Some(named.with_shared(author.shared))
}

#[cfg(test)]
mod tests {
    use throughline_domain::{PlatformKind, UserId};

    use super::*;

    #[test]
    fn a_channel_user_comes_back_as_they_were_named() {
        let user = ChannelUser::new(PlatformKind::SlackUser, "U1")
            .and_then(|user| user.with_display_name("Mina"))
            .and_then(|user| user.with_email("mina@example.org", Some(false)))
            .unwrap()
            .with_shared(true);
        let context = TurnContext::default().said_by(user.clone());
        let Some(QueuedAuthor::Ref(named)) = author(&context) else {
            panic!("a ref");
        };
        assert_eq!(channel_user(&named), Some(user));
        let resolved = context.with_user(UserId::from_u128(7));
        let user = QueuedAuthor::User(UserId::from_u128(7));
        assert_eq!(
            author(&resolved),
            Some(user),
            "who is resolved is not resolved again"
        );
        assert_eq!(author(&TurnContext::default()), None);
    }
}
