//! Cases of changing a tenant's rules and status.

use super::Subject;
use super::sample::{days, made, name};
use super::together::together;
use crate::{TenancyError, TenantStatus};

/// Every change raises the revision by one and replaces the whole configuration.
pub async fn a_change_replaces_the_rules_and_raises_the_revision(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let before = tenancy.tenant(&acme).await.expect("reads").expect("made");
    let mut expected = before;
    for (ttl_days, expected_revision) in [(7, None), (8, Some(2)), (8, None)] {
        let changed = tenancy
            .configure(&acme, days(ttl_days), expected_revision)
            .await;
        expected.config = days(ttl_days);
        expected.config_revision += 1;
        assert_eq!(changed.expect("changed"), expected);
    }
    assert_eq!(tenancy.tenant(&acme).await.expect("reads"), Some(expected));
}

/// A change made on old knowledge is refused, tells the revision in force and changes nothing.
pub async fn a_stale_change_is_refused_with_the_current_revision(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let current = tenancy
        .configure(&acme, days(7), Some(1))
        .await
        .expect("changed");
    for stale in [0, 1, 3, u64::MAX] {
        let refused = tenancy.configure(&acme, days(30), Some(stale)).await;
        assert!(
            matches!(refused, Err(TenancyError::StaleRevision { current: 2 })),
            "{refused:?}"
        );
    }
    assert_eq!(tenancy.tenant(&acme).await.expect("reads"), Some(current));
}

/// Of many changes made on the same knowledge one wins; no change is lost unseen.
pub async fn of_many_changes_at_one_revision_one_wins(subject: &dyn Subject) {
    let acme = made(subject, "acme").await;
    let changes = (1..=20)
        .map(|ttl_days| {
            let (tenancy, acme) = (subject.tenancy(), acme.clone());
            async move { tenancy.configure(&acme, days(ttl_days), Some(1)).await }
        })
        .collect();
    let mut won = Vec::new();
    for answer in together(changes).await {
        match answer {
            Ok(tenant) => won.push(tenant),
            Err(error) => assert!(
                matches!(error, TenancyError::StaleRevision { current: 2 }),
                "{error:?}"
            ),
        }
    }
    assert_eq!(won.len(), 1);
    let stored = subject.tenancy().tenant(&acme).await.expect("reads");
    assert_eq!(stored, won.pop());
}

/// A value out of range is refused by name and changes nothing.
pub async fn an_unusable_configuration_changes_nothing(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let before = tenancy.tenant(&acme).await.expect("reads");
    for ttl_days in [0, 3651] {
        let refused = tenancy.configure(&acme, days(ttl_days), None).await;
        assert!(
            matches!(&refused, Err(TenancyError::InvalidConfig(fault)) if fault.path == "/ttl_days"),
            "{refused:?}"
        );
    }
    assert_eq!(tenancy.tenant(&acme).await.expect("reads"), before);
    for edge in [1, 3650] {
        tenancy
            .configure(&acme, days(edge), None)
            .await
            .expect("within the range");
    }
}

/// Suspending and resuming change the status and nothing else; doing it twice is no error.
pub async fn a_tenant_is_suspended_and_resumed(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let mut expected = tenancy.tenant(&acme).await.expect("reads").expect("made");
    for status in [
        TenantStatus::Suspended,
        TenantStatus::Suspended,
        TenantStatus::Active,
    ] {
        let changed = tenancy.set_status(&acme, status).await.expect("changed");
        expected.status = status;
        assert_eq!(changed, expected);
        let read = tenancy.tenant(&acme).await.expect("reads");
        assert_eq!(read.as_ref(), Some(&expected));
    }
}

/// failures.md 10: what is done to one tenant is not done to one that looks like it.
pub async fn a_change_of_one_tenant_leaves_its_lookalikes(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let mut others = Vec::new();
    for text in ["acme-corp", "acme_corp"] {
        let other = made(subject, text).await;
        others.push(tenancy.tenant(&other).await.expect("reads").expect("made"));
    }
    tenancy
        .configure(&acme, days(7), None)
        .await
        .expect("changed");
    tenancy
        .set_status(&acme, TenantStatus::Suspended)
        .await
        .expect("changed");
    for other in others {
        let read = tenancy.tenant(&other.id).await.expect("reads");
        assert_eq!(read, Some(other));
    }
}

/// A change of a tenant that is not there is a typed error and makes none.
pub async fn an_unknown_tenant_cannot_be_changed(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    made(subject, "acme-corp").await;
    let acme = name("acme");
    for answer in [
        tenancy.configure(&acme, days(7), None).await,
        tenancy.configure(&acme, days(7), Some(1)).await,
        tenancy.set_status(&acme, TenantStatus::Suspended).await,
    ] {
        assert!(
            matches!(&answer, Err(TenancyError::UnknownTenant(id)) if *id == acme),
            "{answer:?}"
        );
    }
    assert_eq!(tenancy.tenant(&acme).await.expect("reads"), None);
}
