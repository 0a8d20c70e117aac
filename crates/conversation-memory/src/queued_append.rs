//! An append that waits: whose it is, what is to be appended, and when it is the same again.

use std::fmt;

use throughline_domain::{AuthorRef, Timestamp, UserId};

use crate::{NewTurn, RequestDigest};

/// Stands in a turn whose user is still to be resolved.
pub(crate) const NOBODY: UserId = UserId::from_u128(0);

/// Whose turn a queued append is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueuedAuthor {
    /// A user who was resolved before.
    User(UserId),
    /// A channel user to be resolved when the append is made: the store was away.
    Ref(AuthorRef),
}

/// An append that waits. Its turn carries the moment it arrived, if it did not say itself when it was
/// said: a turn that waited an hour lands where it belongs and not an hour late.
#[derive(Clone)]
pub struct QueuedAppend {
    pub(crate) author: QueuedAuthor,
    pub(crate) turn: NewTurn,
    pub(crate) queued_at: Timestamp,
}

impl QueuedAppend {
    /// An append that arrived then.
    pub fn new(author: QueuedAuthor, turn: NewTurn, arrived_at: Timestamp) -> Self {
        let turn = match &author {
            QueuedAuthor::User(user) => turn.for_user(*user),
            QueuedAuthor::Ref(_) => turn.for_user(NOBODY),
        };
        Self {
            author,
            turn: turn.received_at(arrived_at),
            queued_at: arrived_at,
        }
    }

    /// When it arrived. An erasure of its author since then is one of this append too (T-37).
    pub fn queued_at(&self) -> Timestamp {
        self.queued_at
    }

    /// When it was said, as far as that is known: by the caller's clock, and not after it came.
    pub fn said_at(&self) -> Timestamp {
        let said_at = self.turn.said_at();
        said_at.map_or(self.queued_at, |said_at| said_at.min(self.queued_at))
    }

    /// Whose it is.
    pub fn author(&self) -> &QueuedAuthor {
        &self.author
    }

    /// The user, when it is known.
    pub fn user(&self) -> Option<UserId> {
        match self.author {
            QueuedAuthor::User(user) => Some(user),
            QueuedAuthor::Ref(_) => None,
        }
    }

    /// The channel user, when the user is not known.
    pub fn channel_user(&self) -> Option<&AuthorRef> {
        match &self.author {
            QueuedAuthor::User(_) => None,
            QueuedAuthor::Ref(author) => Some(author),
        }
    }

    /// What is to be appended; its user is the author's only where that is known.
    pub fn turn(&self) -> &NewTurn {
        &self.turn
    }

    /// The turn, said by this user.
    pub fn said_by(self, user: UserId) -> NewTurn {
        self.turn.for_user(user)
    }

    /// The same append with another form of its turn: masked, for one.
    #[must_use]
    pub fn with_turn(self, turn: NewTurn) -> Self {
        Self { turn, ..self }
    }

    /// Whether the other is this append again: what is said agrees, and the authors do as far as they
    /// are named alike. A ref and a user id cannot be compared; the store does that when it appends.
    pub fn repeats(&self, digest: RequestDigest, author: &QueuedAuthor) -> bool {
        let same_author = match (&self.author, author) {
            (QueuedAuthor::User(a), QueuedAuthor::User(b)) => a == b,
            (QueuedAuthor::Ref(a), QueuedAuthor::Ref(b)) => (&a.kind, &a.id) == (&b.kind, &b.id),
            _ => true,
        };
        same_author && self.turn.digest() == digest
    }
}

/// Without its words.
impl fmt::Debug for QueuedAppend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "QueuedAppend({:?}, {} bytes)",
            self.author,
            self.turn.bytes()
        )
    }
}
