//! Finding out who said a turn, when its context did not know.

use throughline_conversation_memory::{
    AuthorRef, Cause, NewTurn, QueuedAppend, QueuedAuthor, RejectReason,
};
use throughline_domain::{Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, IdentityError};

use super::{Answer, Delivery};
use crate::metrics::WriteFailure;

/// What is known of a channel user within one batch, as of when they said something.
type Known = Vec<((AuthorRef, Timestamp), Result<UserId, Trouble>)>;

#[derive(Clone, Copy)]
enum Trouble {
    /// They were erased since (T-37).
    Gone,
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
                QueuedAuthor::Ref(author) => self.user(author, append.said_at(), &mut known).await,
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

    /// Asked once a batch for each channel user whose turns are in order; not at all once identity is known
    /// to be away.
    async fn user(
        &self,
        author: &AuthorRef,
        said_at: Timestamp,
        known: &mut Known,
    ) -> Result<UserId, Trouble> {
        // Who was there when they said one thing was not erased before they said the next.
        let told = |((of, at), found): &&((AuthorRef, Timestamp), Result<UserId, Trouble>)| {
            let holds = match found {
                Ok(_) => *at <= said_at,
                Err(Trouble::Gone) => *at >= said_at,
                Err(_) => true,
            };
            of == author && holds
        };
        if let Some((_, found)) = known.iter().rev().find(told) {
            return *found;
        }
        let away = |(_, found): &(_, _)| matches!(found, Err(Trouble::Unavailable));
        if known.iter().any(away) {
            return Err(Trouble::Unavailable);
        }
        let found = self.ask_identity(author, said_at).await;
        known.push(((author.clone(), said_at), found));
        found
    }

    async fn ask_identity(
        &self,
        author: &AuthorRef,
        said_at: Timestamp,
    ) -> Result<UserId, Trouble> {
        let identity = self.service.identity.as_ref().ok_or(Trouble::NoUser)?;
        let user = ChannelUser::of_author(author).ok_or(Trouble::NoUser)?;
        let asked = identity.resolve_said(self.tenant, &user, said_at);
        match tokio::time::timeout(self.deadline, asked).await {
            // The account: an undone merge parts turns by it.
            Ok(Ok(resolved)) => Ok(resolved.account_id),
            Ok(Err(IdentityError::Gone)) => Err(Trouble::Gone),
            Ok(Err(IdentityError::UnknownTenant(_))) => Err(Trouble::UnknownTenant),
            Ok(Err(IdentityError::Unavailable(_))) | Err(_) => Err(Trouble::Unavailable),
            Ok(Err(_)) => Err(Trouble::NoUser),
        }
    }

    fn trouble(&self, trouble: Trouble) -> Answer {
        let refused = |reason| Answer::Refused(Box::new(reason));
        match trouble {
            Trouble::Gone => refused(RejectReason::Gone),
            Trouble::NoUser => refused(RejectReason::UnknownUser),
            Trouble::UnknownTenant => refused(RejectReason::UnknownTenant(self.tenant.clone())),
            Trouble::Unavailable => {
                let cause = Cause::text("the channel user could not be resolved");
                Answer::Lost(WriteFailure::Transport, Box::new(cause))
            }
        }
    }
}
