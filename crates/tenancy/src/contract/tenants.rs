//! Cases of making and changing tenants.

use throughline_domain::TenantId;

use super::Subject;
use crate::{TenantConfig, TenantStatus};

/// A tenant starts active, with the configuration it was given.
pub async fn a_new_tenant_is_active_at_revision_one(subject: &dyn Subject) {
    let acme = TenantId::parse("acme").expect("a plain name");
    let config = TenantConfig {
        ttl_days: 7,
        ..TenantConfig::default()
    };
    let made = subject
        .tenancy()
        .create_tenant(&acme, config.clone())
        .await
        .expect("made");
    assert_eq!(
        (made.status, made.config_revision),
        (TenantStatus::Active, 1)
    );
    assert_eq!(made.config, config);
    assert_eq!(
        subject.tenancy().tenant(&acme).await.expect("reads"),
        Some(made)
    );
}
