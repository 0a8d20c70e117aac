//! What every provider promises about one person: joining by address, merging and undoing, asking,
//! erasing. Plain functions over any provider of all capabilities.

mod auditing;
mod claims;
mod drained;
mod erasing;
mod fence;
mod lapsing;
mod merging;
mod mixed;
mod parted;
mod random_merges;
mod reviews;
mod sample;
mod sentinel;
mod shared;
mod together;
mod undoing;
mod waiting;

use std::sync::Arc;

use async_trait::async_trait;
use throughline_conversation_memory::{Audit, ConversationMemory, Outbox, Retention};
use throughline_domain::ManualClock;
use throughline_platform_identity::PlatformIdentity;
use throughline_tenancy::Tenancy;

use crate::Erasure;

pub use auditing::*;
pub use claims::*;
pub use drained::*;
pub use erasing::*;
pub use fence::*;
pub use lapsing::*;
pub use merging::*;
pub use mixed::*;
pub use parted::*;
pub use random_merges::*;
pub use reviews::*;
pub use sentinel::*;
pub use shared::*;
pub use undoing::*;
pub use waiting::*;

/// A provider under test, on a store of its own.
#[async_trait]
pub trait Subject: Send + Sync {
    /// Tenants.
    fn tenancy(&self) -> Arc<dyn Tenancy>;
    /// People.
    fn identity(&self) -> Arc<dyn PlatformIdentity>;
    /// Turns.
    fn memory(&self) -> Arc<dyn ConversationMemory>;
    /// Erasure.
    fn erasure(&self) -> Arc<dyn Erasure>;
    /// What waits to be stored.
    fn outbox(&self) -> Arc<dyn Outbox>;
    /// The trail.
    fn audit(&self) -> Arc<dyn Audit>;
    /// The clock the provider was given.
    fn clock(&self) -> Arc<ManualClock>;
    /// Everything the store holds, as text, one line a row; `None` for a store that cannot say.
    async fn dump(&self) -> Option<String>;
}

/// A provider that also deletes by rule.
pub trait SweptSubject: Subject {
    /// The same provider.
    fn retention(&self) -> Arc<dyn Retention>;
}

/// The cases of [`SweptSubject`].
#[macro_export]
macro_rules! swept_contract {
    ($subject:path) => {
        $crate::one_person_contract!(@cases $subject:
            ten_seconds_of_everything_leave_the_counters_exact
            what_is_remembered_of_erased_channel_users_ends
            a_clear_mark_goes_with_the_channel_user_whose_turns_have_ended
        );
    };
}

/// One `#[tokio::test]` for each case; `$subject` is an async function that makes a fresh subject.
#[macro_export]
macro_rules! one_person_contract {
    ($subject:path) => {
        $crate::one_person_contract!(@cases $subject:
            only_an_address_verified_on_both_sides_joins
            a_kind_the_tenant_does_not_trust_never_counts
            a_tenant_that_does_not_merge_keeps_equal_addresses_apart
            spellings_of_one_mailbox_join_and_lookalikes_do_not
            an_address_joins_within_its_tenant_only
            switching_it_on_later_joins_nobody_and_asks
            an_address_that_joined_two_can_be_undone_and_does_not_join_again
            an_address_that_joined_two_is_audited
            a_rename_to_an_address_of_somebody_else_joins_nobody
            an_address_unconfirmed_for_long_joins_nobody
            a_holder_that_is_seen_keeps_the_address
            an_address_that_was_given_up_joins_nobody
            two_accounts_of_one_channel_are_never_joined
            the_address_of_an_erased_person_is_free
            a_revoked_address_joins_nobody
            revoking_is_audited_without_the_address
            a_merged_person_answers_by_every_id
            a_merge_moves_turns_and_counters
            a_turn_is_stored_for_the_survivor_whichever_id_sends_it
            a_retry_across_a_merge_is_a_duplicate
            merging_what_is_one_already_changes_nothing
            merging_nobody_is_refused
            a_chain_of_merges_ends_at_one_survivor
            a_merge_touches_nobody_else
            a_merge_is_audited
            a_tenant_merges_its_own_people_only
            an_undone_merge_gives_everything_back
            turns_that_came_in_between_go_to_their_account
            a_chain_can_be_undone_in_any_order
            a_merge_is_undone_once
            people_that_were_parted_can_be_merged_again
            undoing_is_audited
            who_was_joined_by_an_address_leaves_with_its_account
            a_link_by_an_address_is_undone_below_a_survivor
            a_question_outlives_the_merge_it_was_asked_during
            a_question_is_erased_with_the_account_it_was_about
            a_proposal_waits_for_an_operator
            a_declined_proposal_leaves_two_people
            a_question_is_asked_once_and_answered_once
            a_proposal_about_nobody_is_refused
            reviews_are_listed_page_by_page
            either_id_erases_the_person
            a_rehearsal_counts_what_erasure_does_and_changes_nothing
            a_second_erasure_finds_nothing_left
            erasing_an_unknown_user_is_refused
            an_erased_person_can_not_be_written_to
            a_fresh_message_after_erasure_makes_a_new_person
            an_erasure_raises_the_epoch_by_one
            an_erased_person_leaves_the_audit_trail
            a_merge_of_an_erased_person_can_not_be_undone
            an_erasure_touches_nobody_else
            a_group_is_joined_to_nobody_by_an_address
            who_turns_out_to_be_a_group_holds_no_address
            what_a_group_says_is_read_in_its_scope_only
            the_trail_is_read_by_operation_and_time
            the_pages_of_the_trail_hold_each_entry_once
            nothing_of_an_erased_person_is_left
            what_waits_of_an_erased_person_goes_with_them
            a_key_that_waited_is_refused_after_the_erasure
            what_came_before_an_erasure_never_comes_back
            what_was_said_before_an_erasure_makes_nobody
            a_dated_message_says_who_somebody_is
            a_second_erasure_of_a_channel_user_bars_what_came_between
            a_message_that_waited_does_not_rename_anybody
            what_waits_through_a_merge_goes_where_its_account_goes
            what_waits_through_a_merge_and_its_undoing_is_its_accounts
            what_waits_through_a_merge_is_erased_with_the_survivor
            a_drain_never_outlives_an_erasure
            fifty_first_sights_keep_fifty_turns
            fifty_first_sights_of_two_refs_with_one_address_make_one_person
            merges_in_a_circle_make_one_person
            an_append_never_survives_an_erasure
            random_merges_and_undos_lose_nothing
        );
    };
    (@cases $subject:path: $($case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::contract::$case(&$subject().await).await;
        }
    )+};
}

#[cfg(test)]
mod tests {
    /// A case that no provider runs would promise nothing.
    #[test]
    fn every_case_is_in_the_list_that_providers_run() {
        let list = include_str!("contract.rs");
        for file in [
            include_str!("contract/auditing.rs"),
            include_str!("contract/claims.rs"),
            include_str!("contract/drained.rs"),
            include_str!("contract/erasing.rs"),
            include_str!("contract/fence.rs"),
            include_str!("contract/lapsing.rs"),
            include_str!("contract/merging.rs"),
            include_str!("contract/random_merges.rs"),
            include_str!("contract/parted.rs"),
            include_str!("contract/reviews.rs"),
            include_str!("contract/sentinel.rs"),
            include_str!("contract/shared.rs"),
            include_str!("contract/undoing.rs"),
            include_str!("contract/waiting.rs"),
        ] {
            for case in file.split("\npub async fn ").skip(1) {
                let name = &case[..case.find('(').expect("a function")];
                let listed = list.lines().any(|line| line.trim() == name);
                assert!(listed, "{name} is not in the macro's list");
            }
        }
    }
}
