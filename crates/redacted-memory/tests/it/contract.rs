//! Whoever holds the memory with masks holds a memory that keeps every promise.

mod passing_through {
    throughline_conversation_memory::conversation_memory_contract!(crate::subject::deferred);
}

/// Where scanning on the way in could break something: keys, answers, order, bytes.
mod scanning {
    throughline_conversation_memory::conversation_memory_contract!(@cases crate::subject::inline:
        a_retry_returns_the_first_id
        a_late_retry_does_not_move_the_turn
        a_retry_may_write_its_json_differently
        a_key_used_for_another_turn_is_refused
        a_turn_of_an_unknown_user_is_refused
        an_empty_batch_has_no_answers
        a_batch_answers_in_its_order
        refused_turns_cost_only_themselves
        a_key_twice_in_one_batch_is_stored_once
        a_turn_is_read_as_it_was_given
        odd_text_comes_back_byte_for_byte
        json_comes_back_as_it_was_stored
        tool_calls_may_be_any_json
        fifty_callers_with_one_key_store_one_turn
        tenants_flooded_at_once_keep_their_own
        an_unknown_tenant_stores_nothing
        an_unknown_tenant_is_never_read_as_empty
        usage_counts_every_stored_byte
    );
}
