//! What every provider of platform identity promises, as plain functions over any provider.
//!
//! A provider implements [`Subject`] and lists nothing: `platform_identity_contract!(subject)` makes
//! one test of each case.

mod lookup;
mod resolve;
mod sample;
mod sighting;
mod together;

use std::sync::Arc;

use async_trait::async_trait;
use throughline_domain::{ManualClock, TenantId};

use crate::PlatformIdentity;

pub use lookup::*;
pub use resolve::*;
pub use sighting::*;

/// A provider under test, on a store of its own.
#[async_trait]
pub trait Subject: Send + Sync {
    /// The provider.
    fn identity(&self) -> Arc<dyn PlatformIdentity>;
    /// The clock the provider was given.
    fn clock(&self) -> Arc<ManualClock>;
    /// Makes an active tenant of that name.
    async fn tenant(&self, name: &str) -> TenantId;
}

/// One `#[tokio::test]` for each case; `$subject` is an async function that makes a fresh subject.
#[macro_export]
macro_rules! platform_identity_contract {
    ($subject:path) => {
        $crate::platform_identity_contract!(@cases $subject:
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
            include_str!("contract/lookup.rs"),
            include_str!("contract/resolve.rs"),
            include_str!("contract/sighting.rs"),
        ] {
            for case in file.split("\npub async fn ").skip(1) {
                let name = &case[..case.find('(').expect("a function")];
                let listed = list.lines().any(|line| line.trim() == name);
                assert!(listed, "{name} is not in the macro's list");
            }
        }
    }
}
