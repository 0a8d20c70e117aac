//! Two people who turn out to be one, and taking that back.

use throughline_domain::{Actor, MergeId, Timestamp, UserId};

/// Why two people were made one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeSource {
    /// A person decided.
    Manual,
    /// Another system of the operator's decided.
    System,
    /// An address verified on both sides, at first sight.
    AutoEmail,
}

impl MergeSource {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::Manual, Self::System, Self::AutoEmail];

    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::System => "system",
            Self::AutoEmail => "auto-email",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == word)
    }
}

/// In whose name an address joins people.
pub fn claim_actor() -> Actor {
    Actor::parse("verified e-mail claim").expect("a plain name")
}

/// What a merge moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// To undo it by.
    pub merge_id: MergeId,
    /// Who answers for both from now on: the primary's survivor.
    pub user_id: UserId,
    /// Channel users that changed hands.
    pub merged_identities: u64,
    /// Turns that changed hands.
    pub moved_turns: u64,
}

/// What an undone merge gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The merge.
    pub merge_id: MergeId,
    /// Who was left.
    pub primary_user_id: UserId,
    /// Who is a person of their own again.
    pub secondary_user_id: UserId,
    /// Channel users that went back.
    pub restored_identities: u64,
    /// Turns that went back, those that came in between through the secondary's accounts included.
    pub restored_turns: u64,
}

/// A merge as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRecord {
    /// Its id.
    pub id: MergeId,
    /// Who survived it.
    pub primary_user_id: UserId,
    /// Who was merged away.
    pub secondary_user_id: UserId,
    /// Why.
    pub source: MergeSource,
    /// Who did it.
    pub actor: Actor,
    /// When.
    pub created_at: Timestamp,
    /// When it was taken back.
    pub undone_at: Option<Timestamp>,
}
