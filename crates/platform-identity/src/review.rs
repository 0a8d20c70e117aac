//! Questions to an operator: are these two one person?

use throughline_domain::{Actor, MergeId, ReviewId, Timestamp, UserId};

/// Why somebody must look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReviewReason {
    /// A newcomer verified an address whose holder gave it up or was not seen for long.
    LapsedClaim,
    /// A newcomer verified an address whose holder has another account of the same channel.
    SameKind,
    /// A newcomer verified an address that waits for a decision already.
    ContestedClaim,
    /// A known user came to verify an address that somebody else holds.
    Collision,
    /// A key that may not merge proposes it.
    Proposal,
}

impl ReviewReason {
    /// Every reason.
    pub const ALL: [Self; 5] = [
        Self::LapsedClaim,
        Self::SameKind,
        Self::ContestedClaim,
        Self::Collision,
        Self::Proposal,
    ];

    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LapsedClaim => "lapsed_claim",
            Self::SameKind => "same_kind",
            Self::ContestedClaim => "contested_claim",
            Self::Collision => "collision",
            Self::Proposal => "proposal",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// Where a review stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// Nobody decided.
    Open,
    /// They are one person.
    Accepted,
    /// They are two.
    Declined,
}

impl ReviewState {
    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Open, Self::Accepted, Self::Declined]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

/// An operator's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One person: merge them.
    Accept,
    /// Two people: leave them.
    Decline,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Its id; ascending in time.
    pub id: ReviewId,
    /// Why it was raised.
    pub reason: ReviewReason,
    /// Where it stands.
    pub state: ReviewState,
    /// Who would survive.
    pub primary_user_id: UserId,
    /// Who would be merged away.
    pub secondary_user_id: UserId,
    /// Who proposed it; absent when an address raised it.
    pub proposed_by: Option<Actor>,
    /// When it was raised.
    pub created_at: Timestamp,
    /// The decision.
    pub decision: Option<Decision>,
}

/// Who decided, when, why, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// Why, in the operator's words.
    pub reason: DecisionReason,
    /// The merge; absent for a decline, and when they had become one person otherwise.
    pub merge_id: Option<MergeId>,
}

/// An operator's words: 1..=1024 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionReason(String);

/// The words cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reason is not usable")]
pub struct InvalidReason(#[source] throughline_domain::TextFault);

impl DecisionReason {
    /// The longest reason, in bytes.
    pub const MAX_BYTES: usize = 1024;

    /// Checks the words; they are kept as written.
    pub fn parse(text: &str) -> Result<Self, InvalidReason> {
        throughline_domain::check_text(text, 1, Self::MAX_BYTES).map_err(InvalidReason)?;
        Ok(Self(text.to_owned()))
    }

    /// The words.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which reviews to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewQuery {
    /// Only those in this state.
    pub state: Option<ReviewState>,
    /// Only those raised after this one.
    pub after: Option<ReviewId>,
    /// How many at most, at least one.
    pub limit: u32,
}
