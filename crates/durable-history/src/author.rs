//! Whose a turn is, on its way to the store.

use throughline_conversation_memory::QueuedAuthor;

use crate::TurnContext;

/// The author a context names: the user if they are resolved, else the channel user, to be resolved
/// before the turn is stored. `None` if it names nobody.
pub(crate) fn author(context: &TurnContext) -> Option<QueuedAuthor> {
    if let Some(user) = context.user_id {
        return Some(QueuedAuthor::User(user));
    }
    let user = context.user_ref.as_ref()?;
    Some(QueuedAuthor::Ref(user.to_author()))
}

#[cfg(test)]
mod tests {
    use throughline_domain::{PlatformKind, UserId};
    use throughline_platform_identity::ChannelUser;

    use super::*;

    #[test]
    fn a_context_names_its_author() {
        let user = ChannelUser::new(PlatformKind::SlackUser, "U1")
            .and_then(|user| user.with_display_name("Mina"))
            .and_then(|user| user.with_email("mina@example.org", Some(false)))
            .unwrap()
            .with_shared(true);
        let context = TurnContext::default().said_by(user.clone());
        let Some(QueuedAuthor::Ref(named)) = author(&context) else {
            panic!("a ref");
        };
        assert_eq!(ChannelUser::of_author(&named), Some(user));
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
