//! The spool as the settings describe it.

use std::sync::Arc;

use secrecy::ExposeSecret as _;
use throughline_domain::{Clock, Ids};
use throughline_spool::{Spool, SpoolConfig, SpoolKey};

use crate::failure::{Failure, chain};
use crate::settings::Settings;

/// A turn is never more than the body it came in, give or take its field names.
const BESIDES_THE_BODY: usize = 64 * 1024;

/// `None` when no directory is set.
pub(super) async fn open(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
    ids: &Arc<dyn Ids>,
) -> Result<Option<Spool>, Failure> {
    let Some(directory) = &settings.spool_dir else {
        return Ok(None);
    };
    let Some(key) = &settings.spool_key else {
        return Err(Failure::usage(
            "missing_setting",
            "spool_dir needs spool_key, which seals what lies there; make one with openssl rand -hex 32",
        ));
    };
    let key = SpoolKey::parse(key.expose_secret())
        .map_err(|error| Failure::usage("invalid_setting", format!("spool_key: {error}")))?;
    let clock = Arc::clone(clock);
    let spool = Spool::open(directory, config(settings), &key, clock, Arc::clone(ids)).await;
    let spool = spool.map_err(|error| Failure::failed("spool_unusable", chain(&error)))?;
    let waiting = spool.stats().pending.entries;
    tracing::info!(waiting, key = key.id(), "the spool is open");
    Ok(Some(spool))
}

fn config(settings: &Settings) -> SpoolConfig {
    let max_bytes = settings.spool_max_bytes.0 as u64;
    let max_payload = settings.body_limit.0.saturating_add(BESIDES_THE_BODY);
    let max_payload_bytes = u32::try_from(max_payload).unwrap_or(u32::MAX);
    let defaults = SpoolConfig::default();
    SpoolConfig {
        max_bytes,
        per_tenant_bytes: (settings.spool_tenant_bytes.0 as u64).min(max_bytes),
        max_payload_bytes,
        in_flight_bytes: defaults.in_flight_bytes.max(max_payload_bytes),
        ..defaults
    }
}
