//! How tenants and keys are printed: JSON in the shapes of the HTTP surface, or a line each.

use serde::Serialize;
use throughline_domain::Timestamp;
use throughline_tenancy::{KeyRecord, MintedKey, Tenant};

use crate::failure::Failure;
use crate::output::{note, say};

/// Prints the answer as JSON, or the words.
pub(super) fn answer(
    json: bool,
    answer: &impl Serialize,
    words: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if !json {
        return say(words());
    }
    let text = serde_json::to_string(answer)
        .map_err(|error| Failure::caused("unprintable", "the answer cannot be printed", &error))?;
    say(text)
}

/// Prints the token alone on standard output, so that a script can take it, and the rest beside it.
pub(super) fn minted(minted: &MintedKey) -> Result<(), Failure> {
    note(format_args!(
        "{}\nthe token, shown only now:",
        key(&minted.record)
    ));
    say(minted.token.reveal())
}

pub(super) fn tenant(tenant: &Tenant) -> String {
    let Tenant {
        id,
        status,
        config,
        config_revision,
        created_at,
        ..
    } = tenant;
    let status = status.as_str();
    let rules = serde_json::to_string(config).unwrap_or_default();
    format!(
        "{id}  {status}  revision {config_revision}  {rules}  made {}",
        day(*created_at)
    )
}

pub(super) fn key(key: &KeyRecord) -> String {
    let scopes: Vec<&str> = key
        .scopes
        .iter()
        .map(throughline_tenancy::Scope::as_str)
        .collect();
    let may = match &key.actor {
        Some(actor) => format!("operator {actor}"),
        None => scopes.join(","),
    };
    let state = match key.revoked_at {
        Some(at) => format!("revoked {}", day(at)),
        None => "active".to_owned(),
    };
    format!(
        "{}  {state}  {may}  {:?}  made {}",
        key.id,
        key.label,
        day(key.created_at)
    )
}

/// One line each, or a sentence when there is none.
pub(super) fn list<T>(items: &[T], line: impl Fn(&T) -> String, none: &str) -> String {
    if items.is_empty() {
        return none.to_owned();
    }
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}
