//! Finding out who said a turn, when its context did not know.

use throughline_conversation_memory::{
    AuthorRef, Cause, NewTurn, QueuedAppend, QueuedAuthor, RejectReason,
};
use throughline_domain::UserId;
use throughline_platform_identity::IdentityError;

use super::{Answer, Delivery};
use crate::author::channel_user;
use crate::metrics::WriteFailure;

/// What is known of a channel user within one batch.
type Known = Vec<(AuthorRef, Result<UserId, Trouble>)>;

#[derive(Clone, Copy)]
enum Trouble {
    /// Identity cannot take this channel user.
    NoUser,
    UnknownTenant,
    /// Identity gave no answer.
    Unavailable,
}

impl Delivery<'_> {
    /// The turns whose author is known, and an answer for each append whose author is not.
    pub(super) async fn resolved(
        &self,
        appends: &[QueuedAppend],
    ) -> (Vec<NewTurn>, Vec<Option<Answer>>) {
        let mut known = Known::new();
        let mut turns = Vec::with_capacity(appends.len());
        let mut answers = Vec::with_capacity(appends.len());
        for append in appends {
            let user = match append.author() {
                QueuedAuthor::User(user) => Ok(*user),
                QueuedAuthor::Ref(author) => self.user(author, &mut known).await,
            };
            match user {
                Ok(user) => {
                    turns.push(append.clone().said_by(user));
                    answers.push(None);
                }
                Err(trouble) => answers.push(Some(self.trouble(trouble))),
            }
        }
        (turns, answers)
    }

    /// Asked once a batch for each channel user; not at all once identity is known to be away.
    async fn user(&self, author: &AuthorRef, known: &mut Known) -> Result<UserId, Trouble> {
        let away = |(_, found): &(AuthorRef, _)| matches!(found, Err(Trouble::Unavailable));
        if let Some((_, found)) = known.iter().find(|(of, _)| of == author) {
            return *found;
        }
        if known.iter().any(away) {
            return Err(Trouble::Unavailable);
        }
        let found = self.ask_identity(author).await;
        known.push((author.clone(), found));
        found
    }

    async fn ask_identity(&self, author: &AuthorRef) -> Result<UserId, Trouble> {
        let identity = self.service.identity.as_ref().ok_or(Trouble::NoUser)?;
        let user = channel_user(author).ok_or(Trouble::NoUser)?;
        let asked = identity.resolve(self.tenant, &user);
        match tokio::time::timeout(self.deadline, asked).await {
            // The account: an undone merge parts turns by it.
            Ok(Ok(resolved)) => Ok(resolved.account_id),
            Ok(Err(IdentityError::UnknownTenant(_))) => Err(Trouble::UnknownTenant),
            Ok(Err(IdentityError::Unavailable(_))) | Err(_) => Err(Trouble::Unavailable),
            Ok(Err(_)) => Err(Trouble::NoUser),
        }
    }

    fn trouble(&self, trouble: Trouble) -> Answer {
        let refused = |reason| Answer::Refused(Box::new(reason));
        match trouble {
            Trouble::NoUser => refused(RejectReason::UnknownUser),
            Trouble::UnknownTenant => refused(RejectReason::UnknownTenant(self.tenant.clone())),
            Trouble::Unavailable => {
                let cause = Cause::text("the channel user could not be resolved");
                Answer::Lost(WriteFailure::Transport, Box::new(cause))
            }
        }
    }
}
