//! Cases of making, reading and listing tenants.

use throughline_domain::Clock;

use super::Subject;
use super::sample::{LOOKALIKES, days, made, name};
use super::together::together;
use crate::{TenancyError, Tenant, TenantConfig, TenantStatus};

/// A tenant starts active, with the configuration it was given.
pub async fn a_new_tenant_is_active_at_revision_one(subject: &dyn Subject) {
    let acme = name("acme");
    let made = subject
        .tenancy()
        .create_tenant(&acme, days(7))
        .await
        .expect("made");
    let expected = Tenant {
        id: acme.clone(),
        status: TenantStatus::Active,
        config: days(7),
        config_revision: 1,
        erasure_epoch: 0,
        created_at: subject.clock().now(),
    };
    assert_eq!(made, expected);
    assert_eq!(
        subject.tenancy().tenant(&acme).await.expect("reads"),
        Some(expected)
    );
}

/// A second tenant of one name is refused and the first one keeps its rules.
pub async fn a_name_is_given_once(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = name("acme");
    let first = tenancy.create_tenant(&acme, days(7)).await.expect("made");
    let again = tenancy.create_tenant(&acme, days(30)).await;
    assert!(
        matches!(&again, Err(TenancyError::TenantExists(id)) if *id == acme),
        "{again:?}"
    );
    assert_eq!(tenancy.tenant(&acme).await.expect("reads"), Some(first));
}

/// Of many who make one tenant at once, one does.
pub async fn of_many_makers_of_one_tenant_one_succeeds(subject: &dyn Subject) {
    let makers = (1..=20)
        .map(|ttl_days| {
            let tenancy = subject.tenancy();
            async move { tenancy.create_tenant(&name("acme"), days(ttl_days)).await }
        })
        .collect();
    let mut made = Vec::new();
    for answer in together(makers).await {
        match answer {
            Ok(tenant) => made.push(tenant),
            Err(error) => assert!(matches!(error, TenancyError::TenantExists(_)), "{error:?}"),
        }
    }
    assert_eq!(made.len(), 1);
    let stored = subject.tenancy().tenant(&name("acme")).await;
    assert_eq!(stored.expect("reads"), made.pop());
}

/// A configuration out of range is refused by name, and no tenant is made.
pub async fn a_tenant_is_not_made_with_an_unusable_configuration(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = name("acme");
    for ttl_days in [0, 3651, u32::MAX] {
        let refused = tenancy.create_tenant(&acme, days(ttl_days)).await;
        assert!(
            matches!(&refused, Err(TenancyError::InvalidConfig(fault)) if fault.path == "/ttl_days"),
            "{refused:?}"
        );
    }
    assert_eq!(tenancy.tenant(&acme).await.expect("reads"), None);
}

/// Reading a tenant that is not there is no error, and lookalikes do not stand in for it
/// (failures.md 10).
pub async fn a_tenant_that_was_not_made_is_none(subject: &dyn Subject) {
    made(subject, "acme-corp").await;
    for absent in ["acme", "acme_corp", "acme-cor", "acme-corp2", "default"] {
        let read = subject.tenancy().tenant(&name(absent)).await;
        assert_eq!(read.expect("reads"), None, "{absent}");
    }
}

/// R-061, T-11: a new store has no tenant, not even a default one.
pub async fn a_new_store_has_no_tenant(subject: &dyn Subject) {
    let all = subject.tenancy().tenants(None, 100).await.expect("reads");
    assert_eq!(all, []);
}

/// The list is in byte order whatever the store's collation, and its pages hold each tenant once.
pub async fn tenants_are_listed_in_name_order_page_by_page(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    // In a dictionary's order the punctuation would not count.
    let sorted = [
        "acme", "acme-b", "acme.b", "acme0", "acme_b", "acmea", "b", "b-",
    ];
    for text in [
        "b", "acme_b", "acme0", "acme.b", "b-", "acmea", "acme-b", "acme",
    ] {
        made(subject, text).await;
    }
    let names = |page: Vec<Tenant>| -> Vec<String> {
        page.iter().map(|tenant| tenant.id.to_string()).collect()
    };
    let all = tenancy.tenants(None, 100).await.expect("reads");
    assert_eq!(names(all), sorted);
    let mut paged = Vec::new();
    loop {
        let after = paged.last().map(|last: &String| name(last));
        let page = names(tenancy.tenants(after.as_ref(), 3).await.expect("reads"));
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 3, "{page:?}");
        assert!(paged.last() < page.first(), "{page:?} goes back");
        paged.extend(page);
    }
    assert_eq!(paged, sorted);
}

/// A page may start after a name that no tenant has.
pub async fn a_page_goes_on_after_a_name_nobody_has(subject: &dyn Subject) {
    for text in LOOKALIKES {
        made(subject, text).await;
    }
    let page = subject.tenancy().tenants(Some(&name("acme-zzz")), 10).await;
    let ids: Vec<_> = page.expect("reads").into_iter().map(|t| t.id).collect();
    assert_eq!(ids, [name("acme_corp")]);
}

/// Each of the lookalikes has its own rules (failures.md 10).
pub async fn lookalike_tenants_keep_their_own_rules(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    for (text, ttl_days) in LOOKALIKES.into_iter().zip(1..) {
        let made = tenancy.create_tenant(&name(text), days(ttl_days)).await;
        made.expect("a new tenant");
    }
    for (text, ttl_days) in LOOKALIKES.into_iter().zip(1..) {
        let read = tenancy.tenant(&name(text)).await.expect("reads");
        assert_eq!(read.map(|tenant| tenant.config), Some(days(ttl_days)));
    }
    assert_eq!(TenantConfig::default().ttl_days, 90);
}
