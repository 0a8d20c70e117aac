//! The receipt of an erasure.

use serde::{Deserialize, Serialize};
use throughline_domain::UserId;
use throughline_erasure::{Mode, Outcome, Receipt};
use utoipa::ToSchema;

/// `DELETE /v1/tenants/{tenant}/users/{user_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReceiptAnswer {
    /// `erased` or `nothing_left`; of a rehearsal, what a real run would say.
    pub outcome: String,
    /// Whether this was a rehearsal: nothing was changed.
    pub dry_run: bool,
    /// Every id of the person.
    #[schema(value_type = Vec<String>)]
    pub user_ids: Vec<UserId>,
    /// Turns.
    pub deleted_turns: u64,
    /// Their bytes.
    pub deleted_bytes: u64,
    /// Appends that waited to be stored, dead letters too.
    pub deleted_outbox: u64,
    /// Appends that waited on the disk of the process that answers.
    pub deleted_spooled: u64,
    /// Keys that are refused from now on.
    pub tombstoned_keys: u64,
    /// Channel users for whom nothing that waited until now is stored any more.
    pub tombstoned_refs: u64,
    /// Clear marks of scopes where nobody else ever spoke.
    pub deleted_clear_marks: u64,
    /// Channel users.
    pub deleted_identities: u64,
    /// Claims on addresses.
    pub deleted_claims: u64,
    /// Merges.
    pub deleted_merges: u64,
    /// Reviews.
    pub deleted_reviews: u64,
    /// Audit entries that were deleted.
    pub deleted_audit_rows: u64,
    /// Audit entries that lost their ids.
    pub nullified_audit_rows: u64,
    /// Ids that are refused for good.
    pub barred_user_ids: u64,
    /// The tenant's epoch afterwards.
    pub erasure_epoch: u64,
}

impl ReceiptAnswer {
    /// The receipt of a run in this mode.
    pub fn new(receipt: Receipt, mode: Mode) -> Self {
        let counts = receipt.counts;
        Self {
            outcome: match receipt.outcome {
                Outcome::Erased => "erased",
                Outcome::NothingLeft => "nothing_left",
            }
            .to_owned(),
            dry_run: mode == Mode::Rehearse,
            user_ids: receipt.user_ids,
            deleted_turns: counts.deleted_turns,
            deleted_bytes: counts.deleted_bytes,
            deleted_outbox: counts.deleted_outbox,
            deleted_spooled: counts.deleted_spooled,
            tombstoned_keys: counts.tombstoned_keys,
            tombstoned_refs: counts.tombstoned_refs,
            deleted_clear_marks: counts.deleted_clear_marks,
            deleted_identities: counts.deleted_identities,
            deleted_claims: counts.deleted_claims,
            deleted_merges: counts.deleted_merges,
            deleted_reviews: counts.deleted_reviews,
            deleted_audit_rows: counts.deleted_audit_rows,
            nullified_audit_rows: counts.nullified_audit_rows,
            barred_user_ids: counts.barred_user_ids,
            erasure_epoch: receipt.erasure_epoch,
        }
    }
}
