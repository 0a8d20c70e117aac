//! The tenant's erasure epoch in every answer of the tenants' surface: a client that sees it jump drops
//! what it has cached.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use moka::future::Cache;
use throughline_domain::TenantId;
use throughline_tenancy::Tenancy;
use throughline_wire::headers;

const HEADER: HeaderName = HeaderName::from_static(headers::ERASURE_EPOCH);
/// How far an answer's epoch can be behind an erasure by another process.
const FRESH_FOR: Duration = Duration::from_secs(1);
const TENANTS: u64 = 10_000;

/// Epochs, asked at most once a second for each tenant.
#[derive(Clone)]
pub(crate) struct Epochs {
    tenancy: Arc<dyn Tenancy>,
    known: Cache<TenantId, u64>,
}

impl Epochs {
    pub(crate) fn new(tenancy: Arc<dyn Tenancy>) -> Self {
        let known = Cache::builder()
            .max_capacity(TENANTS)
            .time_to_live(FRESH_FOR)
            .build();
        Self { tenancy, known }
    }

    /// The epoch; `None` when the tenant is unknown or the store does not answer: the request itself
    /// will say so. It is asked before the request is served, so that it is never newer than what the
    /// answer holds: an old epoch with new data costs a client one more look, the opposite would leave
    /// it with what was erased.
    pub(crate) async fn of(&self, tenant: &TenantId) -> Option<u64> {
        if let Some(epoch) = self.known.get(tenant).await {
            return Some(epoch);
        }
        let epoch = self.tenancy.tenant(tenant).await.ok()??.erasure_epoch;
        self.known.insert(tenant.clone(), epoch).await;
        Some(epoch)
    }

    /// After an erasure by this process.
    pub(crate) async fn forget(&self, tenant: &TenantId) {
        self.known.invalidate(tenant).await;
    }
}

/// Writes the epoch beside the answer.
pub(crate) fn stamp(response: &mut Response, epoch: Option<u64>) {
    if let Some(epoch) = epoch {
        response
            .headers_mut()
            .insert(HEADER, HeaderValue::from(epoch));
    }
}
