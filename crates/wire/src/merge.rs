//! Bodies of merging, undoing and reviewing.

use serde::{Deserialize, Serialize};
use throughline_domain::{MergeId, ReviewId, Timestamp, UserId};
use throughline_platform_identity::{
    DecisionReason, MergeRecord, MergeSource, Merged, Review, Undone,
};
use utoipa::ToSchema;

use crate::{Place, Problem};

/// `POST /v1/tenants/{tenant}/merges`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MergeBody {
    /// Who survives.
    #[schema(value_type = String)]
    pub primary_user_id: UserId,
    /// Who is merged away.
    #[schema(value_type = String)]
    pub secondary_user_id: UserId,
    /// `manual` (the default) or `system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl MergeBody {
    /// The source; an address is not for a caller to claim.
    pub fn source(&self) -> Result<MergeSource, Problem> {
        let Some(word) = &self.source else {
            return Ok(MergeSource::Manual);
        };
        MergeSource::parse(word)
            .filter(|source| *source != MergeSource::AutoEmail)
            .ok_or_else(|| Place::Body("/source").invalid("source must be manual or system"))
    }
}

/// Two people are one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MergeAnswer {
    /// To undo it by.
    #[schema(value_type = String)]
    pub merge_id: MergeId,
    /// Who answers for both.
    #[schema(value_type = String)]
    pub user_id: UserId,
    /// Channel users that changed hands.
    pub merged_identities: u64,
    /// Turns that changed hands.
    pub moved_turns: u64,
}

impl From<Merged> for MergeAnswer {
    fn from(merged: Merged) -> Self {
        Self {
            merge_id: merged.merge_id,
            user_id: merged.user_id,
            merged_identities: merged.merged_identities,
            moved_turns: merged.moved_turns,
        }
    }
}

/// The merge waits for an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposedAnswer {
    /// The question to them.
    #[schema(value_type = String)]
    pub review_id: ReviewId,
}

/// `DELETE /v1/tenants/{tenant}/merges/{merge_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UndoneAnswer {
    /// The merge.
    #[schema(value_type = String)]
    pub merge_id: MergeId,
    /// Who was left.
    #[schema(value_type = String)]
    pub primary_user_id: UserId,
    /// Who is a person of their own again.
    #[schema(value_type = String)]
    pub secondary_user_id: UserId,
    /// Channel users that went back.
    pub restored_identities: u64,
    /// Turns that went back.
    pub restored_turns: u64,
}

impl From<Undone> for UndoneAnswer {
    fn from(undone: Undone) -> Self {
        Self {
            merge_id: undone.merge_id,
            primary_user_id: undone.primary_user_id,
            secondary_user_id: undone.secondary_user_id,
            restored_identities: undone.restored_identities,
            restored_turns: undone.restored_turns,
        }
    }
}

/// One merge of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MergeRecordBody {
    /// To undo it by.
    #[schema(value_type = String)]
    pub merge_id: MergeId,
    /// Who survived it.
    #[schema(value_type = String)]
    pub primary_user_id: UserId,
    /// Who was merged away.
    #[schema(value_type = String)]
    pub secondary_user_id: UserId,
    /// `manual`, `system` or `auto-email`.
    pub source: String,
    /// Who did it.
    pub actor: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub undone_at: Option<Timestamp>,
}

/// `GET /v1/tenants/{tenant}/merges?user_id=`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MergesAnswer {
    /// Oldest first.
    pub merges: Vec<MergeRecordBody>,
}

impl From<Vec<MergeRecord>> for MergesAnswer {
    fn from(merges: Vec<MergeRecord>) -> Self {
        let body = |merge: MergeRecord| MergeRecordBody {
            merge_id: merge.id,
            primary_user_id: merge.primary_user_id,
            secondary_user_id: merge.secondary_user_id,
            source: merge.source.as_str().to_owned(),
            actor: merge.actor.to_string(),
            created_at: merge.created_at,
            undone_at: merge.undone_at,
        };
        Self {
            merges: merges.into_iter().map(body).collect(),
        }
    }
}

/// One question to an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewAnswer {
    /// Its id.
    #[schema(value_type = String)]
    pub review_id: ReviewId,
    /// `lapsed_claim`, `same_kind`, `contested_claim`, `collision` or `proposal`.
    pub reason: String,
    /// `open`, `accepted` or `declined`.
    pub state: String,
    /// Who would survive.
    #[schema(value_type = String)]
    pub primary_user_id: UserId,
    /// Who would be merged away.
    #[schema(value_type = String)]
    pub secondary_user_id: UserId,
    /// Which key proposed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_by: Option<String>,
    /// When it was raised.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub decided_at: Option<Timestamp>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_reason: Option<String>,
    /// The merge it led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub merge_id: Option<MergeId>,
}

impl From<Review> for ReviewAnswer {
    fn from(review: Review) -> Self {
        let decision = review.decision;
        Self {
            review_id: review.id,
            reason: review.reason.as_str().to_owned(),
            state: review.state.as_str().to_owned(),
            primary_user_id: review.primary_user_id,
            secondary_user_id: review.secondary_user_id,
            proposed_by: review.proposed_by.map(|actor| actor.to_string()),
            created_at: review.created_at,
            decided_at: decision.as_ref().map(|decision| decision.at),
            decided_by: decision.as_ref().map(|decision| decision.actor.to_string()),
            decision_reason: decision
                .as_ref()
                .map(|decision| decision.reason.as_str().to_owned()),
            merge_id: decision.and_then(|decision| decision.merge_id),
        }
    }
}

/// `GET /admin/tenants/{tenant}/reviews`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewsAnswer {
    /// Oldest first.
    pub reviews: Vec<ReviewAnswer>,
    /// Where the next page goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// `POST /admin/tenants/{tenant}/reviews/{review_id}/accept` and `…/decline`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecisionBody {
    /// Why.
    pub reason: String,
}

impl DecisionBody {
    /// The checked reason.
    pub fn check(&self) -> Result<DecisionReason, Problem> {
        DecisionReason::parse(&self.reason)
            .map_err(|_| Place::Body("/reason").invalid("reason must have 1 to 1024 bytes, no NUL"))
    }
}
