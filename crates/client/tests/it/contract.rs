//! Every case of the suites that can be told over HTTP, and by name those that cannot. A test keeps both
//! lists together complete: a new case runs here or has its reason.
//!
//! The other suites (tenancy, outbox, retention, redaction, swept) are about traits that a store keeps and
//! jobs use: leases, settlements and sweeps have no route, and what operators do with tenants, keys and dead
//! letters is a surface of its own, not one of these traits.

/// One test for each case, and the list of them.
macro_rules! over_http {
    ($contract:path: $($case:ident)+) => {
        $contract! { @cases crate::subject::subject: $($case)+ }

        const RUN: &[&str] = &[$(stringify!($case)),+];
    };
}

/// The names in the list that providers run, as the suite's source has it.
fn cases_of(source: &str, contract: &str) -> Vec<String> {
    let start = format!("macro_rules! {contract} {{");
    let (_, list) = source.split_once(&start).expect("the macro");
    let (_, list) = list.split_once("@cases $subject:\n").expect("its list");
    let (list, _) = list.split_once(");").expect("the list's end");
    list.split_whitespace().map(str::to_owned).collect()
}

#[track_caller]
fn assert_complete(run: &[&str], skipped: &[(&str, &str)], source: &str, contract: &str) {
    let mut here: Vec<String> = run.iter().map(|&case| case.to_owned()).collect();
    here.extend(skipped.iter().map(|(case, _)| (*case).to_owned()));
    here.sort_unstable();
    let mut all = cases_of(source, contract);
    assert!(all.len() > 20, "{all:?}");
    all.sort_unstable();
    assert_eq!(here, all);
    assert!(skipped.iter().all(|(_, reason)| !reason.is_empty()));
}

/// Why a case cannot run: it dates turns to the microsecond, the wire to the millisecond.
const MILLISECONDS: &str = "times go over the wire in milliseconds";
/// Why a case cannot run: it hands in a turn with its scan result and looks for that.
const SCAN: &str =
    "the service scans what it is sent; a result of the caller's does not go over the wire";
/// Why a case cannot run: it drains what waits.
const DRAIN: &str = "what waits is drained beside the store, by the service itself";
/// Why a case cannot run: it names the actor.
const ACTOR: &str = "who acts is said by the key";

mod identity {
    over_http!(
        throughline_platform_identity::platform_identity_contract:
        a_lookup_finds_what_was_resolved_and_nothing_else
        a_lookup_changes_nothing
        a_lookup_makes_no_user
        a_user_is_read_with_its_identities
        an_unknown_user_is_none
        nobody_is_found_from_another_tenant
        nobody_is_looked_up_in_an_unknown_tenant
        a_ref_keeps_its_user_forever
        concurrent_first_sights_make_one_user
        concurrent_first_sights_of_many_make_many
        refs_that_look_alike_are_different_people
        an_equal_address_merges_nobody
        a_rename_keeps_the_user
        one_ref_in_three_tenants_is_three_people
        nobody_is_resolved_in_an_unknown_tenant
        a_first_sight_stores_what_the_channel_said
        what_was_not_said_is_absent
        an_absent_name_or_address_erases_nothing
        a_given_name_or_address_replaces_the_stored_one
        another_address_does_not_inherit_the_verification
        last_seen_moves_once_a_minute
        a_new_name_is_stored_within_the_minute
        a_rename_stays_in_its_tenant
        concurrent_renames_leave_one_whole_identity
    );

    const SKIPPED: &[(&str, &str)] = &[];

    #[test]
    fn no_case_is_forgotten() {
        let source = include_str!("../../../platform-identity/src/contract.rs");
        super::assert_complete(RUN, SKIPPED, source, "platform_identity_contract");
    }
}

mod memory {
    over_http!(
        throughline_conversation_memory::conversation_memory_contract:
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
        one_side_of_a_turn_may_be_empty
        odd_text_comes_back_byte_for_byte
        json_comes_back_as_it_was_stored
        tool_calls_may_be_any_json
        the_largest_turn_comes_back
        an_unheard_of_channel_kind_is_stored
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
        a_key_belongs_to_its_tenant
        a_user_of_one_tenant_is_nobody_in_another
        a_scope_belongs_to_its_tenant
        a_place_of_another_tenant_reveals_nothing
        an_unknown_tenant_stores_nothing
        an_unknown_tenant_is_never_read_as_empty
        a_turn_without_a_time_was_said_now
        a_time_ahead_is_cut_to_two_minutes
        a_time_far_back_is_cut_to_thirty_days
        a_late_turn_stands_where_it_was_said
        pages_hold_each_turn_once_while_others_write
        pages_hold_each_survivor_once_while_turns_end
        the_last_page_says_so
        recent_turns_come_newest_first_across_channels
        a_thousand_turns_of_one_moment_stay_in_append_order
        leaving_out_a_canvas_keeps_turns_without_one
        channel_kinds_narrow_and_an_empty_list_does_not
        filters_come_before_the_limit
        a_page_holds_at_most_its_limit
        a_page_that_changed_is_never_taken_for_fresh
        a_page_that_did_not_change_stays_fresh
        a_version_belongs_to_its_tenant
        versions_asked_at_once_are_each_of_their_own_person
        an_unknown_user_reads_as_empty
        people_in_one_scope_have_their_own_recent_turns
        usage_counts_every_stored_byte
        usage_of_nobody_is_zero
        usage_agrees_with_the_rows_after_a_random_flood
    );

    const SKIPPED: &[(&str, &str)] = &[
        (
            "a_page_goes_on_from_any_place_within_its_bounds",
            super::MILLISECONDS,
        ),
        ("a_time_in_the_past_is_kept", super::MILLISECONDS),
        ("a_turn_ends_to_the_microsecond", super::MILLISECONDS),
        (
            "a_turn_older_than_the_retention_is_refused",
            super::MILLISECONDS,
        ),
        (
            "since_is_inclusive_and_until_exclusive",
            super::MILLISECONDS,
        ),
        ("turns_left_out_make_no_next_page", super::MILLISECONDS),
        ("a_pending_turn_is_left_out_and_counted", super::SCAN),
        ("pending_turns_never_shorten_a_page", super::SCAN),
        ("pending_turns_of_others_are_not_counted", super::SCAN),
        ("a_turn_is_read_as_it_was_given", super::SCAN),
    ];

    #[test]
    fn no_case_is_forgotten() {
        let source = include_str!("../../../conversation-memory/src/contract.rs");
        super::assert_complete(RUN, SKIPPED, source, "conversation_memory_contract");
    }
}

mod one_person {
    over_http!(
        throughline_erasure::one_person_contract:
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
        nothing_of_an_erased_person_is_left
        what_waits_of_an_erased_person_goes_with_them
        a_key_that_waited_is_refused_after_the_erasure
        what_was_said_before_an_erasure_makes_nobody
        a_dated_message_says_who_somebody_is
        a_group_is_joined_to_nobody_by_an_address
        a_revoked_address_joins_nobody
        revoking_is_audited_without_the_address
        the_pages_of_the_trail_hold_each_entry_once
        the_trail_is_read_by_operation_and_time
        what_a_group_says_is_read_in_its_scope_only
        who_turns_out_to_be_a_group_holds_no_address
        fifty_first_sights_keep_fifty_turns
        fifty_first_sights_of_two_refs_with_one_address_make_one_person
        merges_in_a_circle_make_one_person
        an_append_never_survives_an_erasure
        random_merges_and_undos_lose_nothing
    );

    const SKIPPED: &[(&str, &str)] = &[
        ("a_proposal_waits_for_an_operator", super::ACTOR),
        ("a_drain_never_outlives_an_erasure", super::DRAIN),
        (
            "a_message_that_waited_does_not_rename_anybody",
            super::DRAIN,
        ),
        (
            "a_second_erasure_of_a_channel_user_bars_what_came_between",
            super::DRAIN,
        ),
        ("what_came_before_an_erasure_never_comes_back", super::DRAIN),
        (
            "what_waits_through_a_merge_and_its_undoing_is_its_accounts",
            super::DRAIN,
        ),
        (
            "what_waits_through_a_merge_goes_where_its_account_goes",
            super::DRAIN,
        ),
        (
            "what_waits_through_a_merge_is_erased_with_the_survivor",
            super::DRAIN,
        ),
    ];

    #[test]
    fn no_case_is_forgotten() {
        let source = include_str!("../../../erasure/src/contract.rs");
        super::assert_complete(RUN, SKIPPED, source, "one_person_contract");
    }
}
