//! A stable user and their identities.

use throughline_domain::{Timestamp, UserId};

use crate::PlatformUserId;

/// What [`crate::PlatformIdentity::resolve`] found or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The person: the survivor, when the account was merged.
    pub user_id: UserId,
    /// The id the channel user was first seen under. It stays theirs through every merge and undo:
    /// whoever appends under it says through which account a turn came.
    pub account_id: UserId,
    /// Whether a new *person* was made by this very call (T-04).
    pub is_new: bool,
}

/// Whether a user can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStatus {
    /// Turns may be appended.
    Active,
    /// The survivor answers in their place.
    Merged,
    /// Erased; nothing may be written under this id again.
    Forgotten,
}

impl UserStatus {
    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Merged => "merged",
            Self::Forgotten => "forgotten",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Merged, Self::Forgotten]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

/// How an identity came to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSource {
    /// A verified e-mail address on both sides.
    AutoEmail,
    /// A person decided.
    Manual,
    /// First sight (T-56).
    System,
}

impl ClaimSource {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::AutoEmail, Self::Manual, Self::System];

    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AutoEmail => "auto-email",
            Self::Manual => "manual",
            Self::System => "system",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == word)
    }
}

/// One channel's view of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Kind and id.
    pub id: PlatformUserId,
    /// The latest name given.
    pub display_name: Option<String>,
    /// The latest address given, as given.
    pub email: Option<String>,
    /// Whether the channel vouched for that address.
    pub email_verified: bool,
    /// Whether it is a group and no single person (T-05).
    pub shared: bool,
    /// When the channel's user was first resolved.
    pub first_seen_at: Timestamp,
    /// When it was last resolved, to within a minute (T-55).
    pub last_seen_at: Timestamp,
    /// How it came to this user.
    pub claim_source: ClaimSource,
}

/// A stable user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The id that answers: the survivor's, when a merged id was asked for.
    pub user_id: UserId,
    /// Whether it can be written to.
    pub status: UserStatus,
    /// Sorted by first sight, then kind and id.
    pub identities: Vec<Identity>,
    /// The ids that now answer with this one, sorted.
    pub merged_user_ids: Vec<UserId>,
}
