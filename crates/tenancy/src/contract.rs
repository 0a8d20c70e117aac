//! What every provider of tenancy promises, as plain functions over any provider.

mod authenticate;
mod configure;
mod keys;
mod operator_keys;
mod sample;
mod tenants;
mod together;

use std::sync::Arc;

use throughline_domain::ManualClock;

use crate::Tenancy;

pub use authenticate::*;
pub use configure::*;
pub use keys::*;
pub use operator_keys::*;
pub use tenants::*;

/// A provider under test, on a store of its own.
pub trait Subject: Send + Sync {
    /// The provider.
    fn tenancy(&self) -> Arc<dyn Tenancy>;
    /// The clock the provider was given.
    fn clock(&self) -> Arc<ManualClock>;
}

/// One `#[tokio::test]` for each case; `$subject` is an async function that makes a fresh subject.
#[macro_export]
macro_rules! tenancy_contract {
    ($subject:path) => {
        $crate::tenancy_contract!(@cases $subject:
            a_token_speaks_for_its_own_tenant
            a_token_tells_that_its_tenant_is_suspended
            a_revoked_token_is_nobodys
            a_forged_token_is_nobodys
            a_text_that_is_no_token_is_nobodys
            a_change_replaces_the_rules_and_raises_the_revision
            a_stale_change_is_refused_with_the_current_revision
            of_many_changes_at_one_revision_one_wins
            an_unusable_configuration_changes_nothing
            a_tenant_is_suspended_and_resumed
            a_change_of_one_tenant_leaves_its_lookalikes
            an_unknown_tenant_cannot_be_changed
            a_minted_key_is_listed_as_asked_for
            two_keys_are_never_equal
            a_list_of_keys_never_holds_a_token
            keys_are_listed_oldest_first_with_the_revoked_ones
            a_key_is_revoked_once
            a_key_of_one_tenant_is_out_of_reach_of_another
            an_unknown_key_cannot_be_revoked
            an_unknown_tenant_has_no_keys
            an_operators_key_names_its_actor
            operators_keys_are_listed_oldest_first_and_revoked_once
            an_operators_key_belongs_to_no_tenant
            a_new_tenant_is_active_at_revision_one
            a_name_is_given_once
            of_many_makers_of_one_tenant_one_succeeds
            a_tenant_is_not_made_with_an_unusable_configuration
            a_tenant_that_was_not_made_is_none
            a_new_store_has_no_tenant
            tenants_are_listed_in_name_order_page_by_page
            a_page_goes_on_after_a_name_nobody_has
            lookalike_tenants_keep_their_own_rules
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
            include_str!("contract/authenticate.rs"),
            include_str!("contract/configure.rs"),
            include_str!("contract/keys.rs"),
            include_str!("contract/operator_keys.rs"),
            include_str!("contract/tenants.rs"),
        ] {
            for case in file.split("\npub async fn ").skip(1) {
                let name = &case[..case.find('(').expect("a function")];
                let listed = list.lines().any(|line| line.trim() == name);
                assert!(listed, "{name} is not in the macro's list");
            }
        }
    }
}
