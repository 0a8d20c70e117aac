//! What the binary sets.

use std::num::NonZeroU32;
use std::time::Duration;

use secrecy::SecretString;
use throughline_tenancy::TenantConfig;

/// How many requests one key may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests a second, on the average.
    pub per_second: NonZeroU32,
    /// Requests at once.
    pub burst: NonZeroU32,
}

/// Limits and switches of the surface.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The most bytes of a body.
    pub body_limit: usize,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// How long a request may take as a whole.
    pub request_timeout: Duration,
    /// Requests served at once; those of operation (`/livez`, `/metrics`, …) are not counted.
    pub max_concurrency: usize,
    /// Per key; `None` is no limit.
    pub rate_limit: Option<RateLimit>,
    /// Who may read the metrics; `None` for nobody, or for everybody with `metrics_open`.
    pub metrics_token: Option<SecretString>,
    /// Metrics without a token: only for a listener bound to loopback.
    pub metrics_open: bool,
    /// How long a valid key is remembered, at most 5 s: so long a key revoked by another process may
    /// still be honoured.
    pub key_cache: Duration,
    /// How long a key that was valid is honoured while the store is away, so that appends can be queued.
    /// Zero honours none.
    pub key_outage: Duration,
    /// How long an unknown key is remembered, at most 1 s.
    pub unknown_key_cache: Duration,
    /// The most bytes of answers with recent turns that are remembered; zero remembers none.
    pub read_cache: usize,
    /// The rules of a tenant that is made without rules of its own.
    pub new_tenants: TenantConfig,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_limit: 4 * 1024 * 1024,
            body_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            max_concurrency: 512,
            rate_limit: None,
            metrics_token: None,
            metrics_open: false,
            key_cache: Duration::from_secs(5),
            key_outage: Duration::from_hours(1),
            unknown_key_cache: Duration::from_secs(1),
            read_cache: 64 * 1024 * 1024,
            new_tenants: TenantConfig::default(),
        }
    }
}
