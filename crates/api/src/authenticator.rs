//! Who holds a token, remembered for a moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::future::Cache;
use throughline_tenancy::{Principal, Tenancy, TenancyError, Token};

use crate::Settings;

const LONGEST_KNOWN: Duration = Duration::from_secs(5);
const LONGEST_UNKNOWN: Duration = Duration::from_secs(1);
const ENTRIES: u64 = 10_000;

/// The token's hash.
type Fingerprint = [u8; 32];

/// A cache in front of [`Tenancy::authenticate`]. Known and unknown tokens are kept apart, so that
/// made-up ones push out nobody.
pub(crate) struct Authenticator {
    tenancy: Arc<dyn Tenancy>,
    known: Cache<Fingerprint, Arc<Principal>>,
    unknown: Cache<Fingerprint, ()>,
    /// Everybody the store has vouched for lately; asked only while it is away.
    proven: Cache<Fingerprint, Arc<Principal>>,
    /// Raised whenever something was revoked or suspended.
    generation: AtomicU64,
}

impl Authenticator {
    pub(crate) fn new(tenancy: Arc<dyn Tenancy>, settings: &Settings) -> Self {
        Self {
            tenancy,
            known: cache(settings.key_cache.min(LONGEST_KNOWN)),
            unknown: cache(settings.unknown_key_cache.min(LONGEST_UNKNOWN)),
            proven: cache(settings.key_outage),
            generation: AtomicU64::new(0),
        }
    }

    /// `None` for a token that was never minted or is revoked. While the store is away, whoever it
    /// vouched for within the outage window is still let in: their appends may be queued, and what
    /// needs the store fails anyway. Anybody else gets an error, never "unknown".
    pub(crate) async fn holder(
        &self,
        token: &Token,
    ) -> Result<Option<Arc<Principal>>, TenancyError> {
        let fingerprint = *token.hash().as_bytes();
        if let Some(principal) = self.known.get(&fingerprint).await {
            return Ok(Some(principal));
        }
        if self.unknown.contains_key(&fingerprint) {
            return Ok(None);
        }
        let before = self.generation.load(Ordering::SeqCst);
        let principal = match self.tenancy.authenticate(token).await {
            Ok(Some(principal)) => {
                let principal = Arc::new(principal);
                self.proven
                    .insert(fingerprint, Arc::clone(&principal))
                    .await;
                principal
            }
            Ok(None) => {
                self.proven.invalidate(&fingerprint).await;
                self.unknown.insert(fingerprint, ()).await;
                return Ok(None);
            }
            Err(error @ TenancyError::Unavailable(_)) => {
                // Known again for a moment, so that not every request waits for a store that is away.
                self.proven.get(&fingerprint).await.ok_or(error)?
            }
            Err(error) => return Err(error),
        };
        self.known.insert(fingerprint, Arc::clone(&principal)).await;
        if self.generation.load(Ordering::SeqCst) != before {
            // The answer may be older than the revocation that came in between.
            self.known.invalidate(&fingerprint).await;
            self.proven.invalidate(&fingerprint).await;
        }
        Ok(Some(principal))
    }

    /// Forgets everybody, at once: after a key was revoked or a tenant's status changed, and after a key
    /// was minted. It is rare, and asking the store again is cheap.
    pub(crate) fn forget_all(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.known.invalidate_all();
        self.proven.invalidate_all();
        self.unknown.invalidate_all();
    }
}

/// A cache that keeps nothing when `time` is zero.
fn cache<V: Clone + Send + Sync + 'static>(time: Duration) -> Cache<Fingerprint, V> {
    let capacity = if time.is_zero() { 0 } else { ENTRIES };
    Cache::builder()
        .max_capacity(capacity)
        .time_to_live(time)
        .build()
}
