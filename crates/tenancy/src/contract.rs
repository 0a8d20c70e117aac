//! What every provider of tenancy promises, as plain functions over any provider.

mod tenants;

use std::sync::Arc;

use throughline_domain::ManualClock;

use crate::Tenancy;

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
            a_new_tenant_is_active_at_revision_one
        );
    };
    (@cases $subject:path: $($case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::contract::$case(&$subject().await).await;
        }
    )+};
}
