//! Names and keys that the cases share.

use throughline_domain::{Actor, KeyId, TenantId};

use super::Subject;
use crate::{NewKey, Scope, TenantConfig};

/// Three names that a prefix, a glued key or a loose collation would mix up (failures.md 10).
pub(super) const LOOKALIKES: [&str; 3] = ["acme", "acme-corp", "acme_corp"];

pub(super) fn name(text: &str) -> TenantId {
    TenantId::parse(text).expect("a plain name")
}

pub(super) fn actor(text: &str) -> Actor {
    Actor::parse(text).expect("a plain name")
}

pub(super) fn days(ttl_days: u32) -> TenantConfig {
    TenantConfig {
        ttl_days,
        ..TenantConfig::default()
    }
}

/// Makes the tenant with the default configuration.
pub(super) async fn made(subject: &dyn Subject, text: &str) -> TenantId {
    let tenant = name(text);
    subject
        .tenancy()
        .create_tenant(&tenant, TenantConfig::default())
        .await
        .expect("a new tenant");
    tenant
}

/// A key that may read, under this label.
pub(super) fn reader(label: &str) -> NewKey {
    NewKey {
        label: label.to_owned(),
        scopes: [Scope::TurnsRead].into_iter().collect(),
    }
}

/// A key id that nobody minted.
pub(super) fn nobodys_key() -> KeyId {
    KeyId::from_u128(0x0193_0000_0000_0000_0000_0000_0000_dead)
}
