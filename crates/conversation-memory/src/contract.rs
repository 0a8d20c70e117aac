//! What every provider of conversation memory promises, as plain functions over any provider.

mod append;
mod batch;
mod caps;
mod clear;
mod content;
mod dead_letters;
mod expiry;
mod flood;
mod history;
mod isolation;
mod landing;
mod leases;
mod outbox;
mod paging;
mod pending;
mod raw_reads;
mod recent;
mod redaction_queue;
mod remembered;
mod restamping;
mod retention;
mod sample;
mod together;
mod trimming;
mod turns;
mod usage;

use std::sync::Arc;

use async_trait::async_trait;
use throughline_domain::{ManualClock, TenantId, UserId};

use crate::{Audit, ConversationMemory, Leases, RawReads, RedactionQueue, Retention};

pub use append::*;
pub use batch::*;
pub use caps::*;
pub use clear::*;
pub use content::*;
pub use dead_letters::*;
pub use expiry::*;
pub use flood::*;
pub use history::*;
pub use isolation::*;
pub use landing::*;
pub use leases::*;
pub use outbox::{
    OutboxSubject, a_key_that_waits_with_another_turn_is_refused,
    a_settlement_that_comes_too_late_changes_nothing, an_append_comes_back_as_it_was,
    an_append_is_kept_once, an_entry_that_only_waits_never_dies, entries_are_taken_oldest_first,
    fifty_callers_with_one_key_keep_one_entry, the_fifth_failure_makes_a_dead_letter,
    workers_never_share_an_entry,
};
pub use paging::*;
pub use pending::*;
pub use raw_reads::*;
pub use recent::*;
pub use redaction_queue::*;
pub use remembered::*;
pub use restamping::*;
pub use retention::*;
pub use trimming::*;
pub use turns::{TurnBuilder, turn};
pub use usage::*;

/// A provider under test, on a store of its own.
#[async_trait]
pub trait Subject: Send + Sync {
    /// The provider.
    fn memory(&self) -> Arc<dyn ConversationMemory>;
    /// The clock the provider was given.
    fn clock(&self) -> Arc<ManualClock>;
    /// Makes an active tenant of that name that keeps turns for that many days.
    async fn tenant(&self, name: &str, ttl_days: u32) -> TenantId;
    /// Changes for how many days the tenant keeps turns.
    async fn set_ttl(&self, tenant: &TenantId, ttl_days: u32);
    /// Makes an active user.
    async fn user(&self, tenant: &TenantId) -> UserId;
}

/// A provider that also deletes by rule.
#[async_trait]
pub trait RetentionSubject: Subject {
    /// The same provider.
    fn retention(&self) -> Arc<dyn Retention>;
    /// The same provider.
    fn leases(&self) -> Arc<dyn Leases>;
    /// Changes how much the tenant keeps for one user.
    async fn set_caps(&self, tenant: &TenantId, turns: u64, bytes: u64);
    /// Writes one audit entry, dated now.
    async fn write_audit_entry(&self, tenant: &TenantId);
}

/// A provider whose turns are scanned later, and read raw.
pub trait RedactionSubject: Subject {
    /// The same provider.
    fn queue(&self) -> Arc<dyn RedactionQueue>;
    /// The same provider.
    fn raw(&self) -> Arc<dyn RawReads>;
    /// The same provider.
    fn audit(&self) -> Arc<dyn Audit>;
}

/// One `#[tokio::test]` for each case; `$subject` is an async function that makes a fresh subject.
#[macro_export]
macro_rules! conversation_memory_contract {
    ($subject:path) => {
        $crate::conversation_memory_contract!(@cases $subject:
            a_retry_returns_the_first_id
            a_late_retry_does_not_move_the_turn
            a_retry_after_the_end_stores_nothing
            a_retry_may_write_its_json_differently
            a_key_used_for_another_turn_is_refused
            a_key_used_by_another_user_is_refused
            a_refusal_tells_nothing_of_the_stored_turn
            keys_that_look_alike_are_different_keys
            a_turn_of_an_unknown_user_is_refused
            an_empty_batch_has_no_answers
            a_batch_answers_in_its_order
            refused_turns_cost_only_themselves
            a_key_twice_in_one_batch_is_stored_once
            a_batch_sent_again_stores_nothing
            batches_that_share_keys_in_any_order_all_succeed
            a_cleared_scope_starts_again
            a_late_turn_appears_after_a_clearing
            clearing_twice_or_an_unseen_scope_is_no_error
            clearing_deletes_nothing
            a_retry_brings_no_cleared_turn_back
            clearing_one_scope_leaves_the_others
            a_turn_is_read_as_it_was_given
            one_side_of_a_turn_may_be_empty
            odd_text_comes_back_byte_for_byte
            json_comes_back_as_it_was_stored
            tool_calls_may_be_any_json
            the_largest_turn_comes_back
            an_unheard_of_channel_kind_is_stored
            a_turn_ends_to_the_microsecond
            a_late_turn_ends_when_it_would_have
            a_shorter_retention_hides_old_turns_at_once
            a_longer_retention_brings_nothing_back
            a_retention_put_back_shows_what_was_promised
            each_tenant_has_its_own_retention
            an_ended_turn_is_counted_until_it_is_swept
            fifty_callers_with_one_key_store_one_turn
            fifty_callers_with_fifty_keys_store_fifty_turns
            places_are_given_in_commit_order
            tenants_flooded_at_once_keep_their_own
            history_runs_from_old_to_new_over_everybody
            history_keeps_the_latest_turns
            scopes_that_look_alike_are_different_scopes
            an_unseen_scope_reads_as_empty
            a_page_that_changed_is_never_taken_for_fresh
            a_page_that_did_not_change_stays_fresh
            a_version_belongs_to_its_tenant
            versions_asked_at_once_are_each_of_their_own_person
            a_key_belongs_to_its_tenant
            a_user_of_one_tenant_is_nobody_in_another
            a_scope_belongs_to_its_tenant
            a_place_of_another_tenant_reveals_nothing
            an_unknown_tenant_stores_nothing
            an_unknown_tenant_is_never_read_as_empty
            a_turn_without_a_time_was_said_now
            a_time_in_the_past_is_kept
            a_time_ahead_is_cut_to_two_minutes
            a_time_far_back_is_cut_to_thirty_days
            a_turn_older_than_the_retention_is_refused
            a_late_turn_stands_where_it_was_said
            pages_hold_each_turn_once_while_others_write
            pages_hold_each_survivor_once_while_turns_end
            the_last_page_says_so
            turns_left_out_make_no_next_page
            a_page_goes_on_from_any_place_within_its_bounds
            a_pending_turn_is_left_out_and_counted
            pending_turns_never_shorten_a_page
            pending_turns_of_others_are_not_counted
            recent_turns_come_newest_first_across_channels
            a_thousand_turns_of_one_moment_stay_in_append_order
            since_is_inclusive_and_until_exclusive
            leaving_out_a_canvas_keeps_turns_without_one
            channel_kinds_narrow_and_an_empty_list_does_not
            filters_come_before_the_limit
            a_page_holds_at_most_its_limit
            an_unknown_user_reads_as_empty
            people_in_one_scope_have_their_own_recent_turns
            usage_counts_every_stored_byte
            usage_of_nobody_is_zero
            usage_agrees_with_the_rows_after_a_random_flood
        );
    };
    (@cases $subject:path: $($case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::contract::$case(&$subject().await).await;
        }
    )+};
}

/// The same for the outbox.
#[macro_export]
macro_rules! outbox_contract {
    ($subject:path) => {
        $crate::conversation_memory_contract!(@cases $subject:
            an_append_is_kept_once
            a_key_that_waits_with_another_turn_is_refused
            fifty_callers_with_one_key_keep_one_entry
            an_append_comes_back_as_it_was
            entries_are_taken_oldest_first
            workers_never_share_an_entry
            a_settlement_that_comes_too_late_changes_nothing
            the_fifth_failure_makes_a_dead_letter
            an_entry_that_only_waits_never_dies
            a_refused_entry_is_a_dead_letter_with_its_reason
            a_requeued_dead_letter_is_tried_at_once
            a_discarded_dead_letter_is_gone
            an_append_can_be_buried
            old_dead_letters_expire
            everything_of_one_person_can_be_deleted
            entries_belong_to_their_tenant
            an_unknown_tenant_keeps_nothing
            tenants_with_due_entries_are_named
            a_list_goes_on_after_any_entry
            the_figures_are_over_everybody
        );
    };
}

/// The cases of [`RetentionSubject`].
#[macro_export]
macro_rules! retention_contract {
    ($subject:path) => {
        $crate::conversation_memory_contract!(@cases $subject:
            only_ended_turns_are_swept
            a_sweep_goes_oldest_first_in_chunks
            a_swept_turn_cannot_come_back_while_a_retry_may
            what_a_shorter_retention_ends_is_gone_after_a_sweep
            a_longer_retention_extends_only_when_told_to
            a_restamp_goes_on_chunk_by_chunk_and_is_done_once
            turns_beyond_the_count_go_oldest_first
            the_shortest_run_beyond_the_bytes_goes
            exactly_at_a_cap_nothing_goes
            users_over_a_cap_are_found_and_no_others
            a_preview_says_what_a_sweep_does_and_changes_nothing
            audit_entries_go_after_their_retention
            counters_that_are_right_are_left_alone
            two_sweepers_delete_each_turn_once
            an_unknown_tenant_cannot_be_swept
            the_turn_that_ended_first_is_told
            an_append_far_over_the_count_pushes_the_oldest_out
            an_append_far_over_the_bytes_pushes_the_oldest_out
            a_hundred_appends_at_a_cap_keep_the_counters_exact
            appends_and_sweeps_at_once_keep_the_counters_exact
            a_claim_is_held_by_one
            a_claim_ends_by_itself_and_is_lost
            a_claim_given_back_says_when_the_job_was_done
            claims_of_other_tenants_and_jobs_are_apart
            a_job_remembers_where_it_was
        );
    };
}

/// The cases of [`RedactionSubject`].
#[macro_export]
macro_rules! redaction_contract {
    ($subject:path) => {
        $crate::conversation_memory_contract!(@cases $subject:
            pending_and_outdated_turns_are_due
            a_turn_stored_masked_is_never_due
            a_settled_turn_can_be_read
            a_turn_can_be_sent_back_to_wait
            a_result_never_replaces_one_it_has_not_seen
            workers_that_race_settle_a_turn_once
            failures_are_counted_and_the_turn_stays_pending
            an_unknown_turn_is_not_settled
            redacted_turns_are_walked_in_the_order_of_their_ids
            only_tenants_with_something_due_are_named
            the_backlog_counts_pending_turns_and_their_age
            a_raw_read_returns_every_state_verbatim
            a_raw_read_leaves_exactly_one_entry
            only_raw_reads_are_written_down
            raw_pages_hold_each_turn_once
        );
    };
}

#[cfg(test)]
mod tests {
    /// A case that no provider runs would promise nothing.
    #[test]
    fn every_case_is_in_the_list_that_providers_run() {
        let list = include_str!("contract.rs");
        for file in [
            include_str!("contract/append.rs"),
            include_str!("contract/batch.rs"),
            include_str!("contract/caps.rs"),
            include_str!("contract/clear.rs"),
            include_str!("contract/content.rs"),
            include_str!("contract/dead_letters.rs"),
            include_str!("contract/expiry.rs"),
            include_str!("contract/flood.rs"),
            include_str!("contract/history.rs"),
            include_str!("contract/isolation.rs"),
            include_str!("contract/landing.rs"),
            include_str!("contract/outbox.rs"),
            include_str!("contract/paging.rs"),
            include_str!("contract/pending.rs"),
            include_str!("contract/raw_reads.rs"),
            include_str!("contract/recent.rs"),
            include_str!("contract/redaction_queue.rs"),
            include_str!("contract/remembered.rs"),
            include_str!("contract/leases.rs"),
            include_str!("contract/restamping.rs"),
            include_str!("contract/retention.rs"),
            include_str!("contract/trimming.rs"),
            include_str!("contract/usage.rs"),
        ] {
            for case in file.split("\npub async fn ").skip(1) {
                let name = &case[..case.find('(').expect("a function")];
                let listed = list.lines().any(|line| line.trim() == name);
                assert!(listed, "{name} is not in the macro's list");
            }
        }
    }
}
