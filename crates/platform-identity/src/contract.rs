//! What every provider of platform identity promises, as plain functions over any provider.
//!
//! A provider implements [`Subject`] and lists nothing: `platform_identity_contract!(subject)` makes
//! one test of each case.

mod resolve;

use std::sync::Arc;

use async_trait::async_trait;
use throughline_domain::{ManualClock, TenantId};

use crate::PlatformIdentity;

pub use resolve::*;

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
            a_ref_keeps_its_user_forever
        );
    };
    (@cases $subject:path: $($case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::contract::$case(&$subject().await).await;
        }
    )+};
}
