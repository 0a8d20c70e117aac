//! Cases of `read_version`: whoever remembers a page never serves one that a read would not give.

use std::time::Duration;

use throughline_domain::{Clock as _, TenantId, UserId};

use super::sample::{LOOKALIKES, MICROSECOND, acme_and_mina, limit, page, store_one};
use super::together::together;
use super::{Subject, turn};
use crate::{MemoryError, RecentPage, RecentQuery};

fn three() -> RecentQuery {
    RecentQuery {
        limit: limit(3),
        ..RecentQuery::default()
    }
}

/// Reads as whoever remembers does: the old page while it is fresh, and the store's answer else, which
/// becomes the page. Either way it has to be what a read gives.
async fn read(
    subject: &dyn Subject,
    (tenant, user): (&TenantId, UserId),
    remembered: &mut RecentPage,
) {
    let version = subject.memory().read_version(tenant, user).await;
    let version = version.expect("answers");
    let now = subject.clock().now();
    let fresh = remembered.fresh;
    let good = fresh.is_some_and(|fresh| Some(fresh.version) == version && now < fresh.until);
    let read = page(subject, tenant, user, &three()).await;
    if good {
        assert_eq!(remembered.turns, read.turns);
        assert_eq!(remembered.next, read.next);
        assert_eq!(remembered.pending_excluded, read.pending_excluded);
    }
    *remembered = read;
}

/// each kind of change that a reader can see, and the clock.
pub async fn a_page_that_changed_is_never_taken_for_fresh(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    let who = (&acme, mina);
    let mut known = page(subject, &acme, mina, &three()).await;
    for key in ["a", "b", "c", "d"] {
        store_one(subject, &acme, turn(mina, key).build()).await;
        read(subject, who, &mut known).await;
        subject.clock().advance(Duration::from_secs(1));
    }
    store_one(subject, &acme, turn(noor, "n").build()).await;
    read(subject, who, &mut known).await;
    store_one(subject, &acme, turn(mina, "e").pending()).await;
    read(subject, who, &mut known).await;
    assert!(known.fresh.is_none() || known.pending_excluded == 0);
    subject.set_ttl(&acme, 1).await;
    read(subject, who, &mut known).await;
    assert_eq!(known.turns.len(), 3);
    // One after the other ends, at its own moment.
    let nearly = Duration::from_secs(24 * 3_600 - 6);
    subject.clock().advance(nearly);
    for _ in 0..8 {
        read(subject, who, &mut known).await;
        let nearly = Duration::from_micros(999_999);
        subject.clock().advance(nearly);
        read(subject, who, &mut known).await;
        subject.clock().advance(MICROSECOND);
        read(subject, who, &mut known).await;
    }
    assert_eq!(known.turns, []);
}

/// A page stays fresh while nothing of it changes: or nothing would ever be remembered.
pub async fn a_page_that_did_not_change_stays_fresh(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store_one(subject, &acme, turn(mina, "a").build()).await;
    let read = page(subject, &acme, mina, &three()).await;
    let noor = subject.user(&acme).await;
    store_one(subject, &acme, turn(noor, "n").build()).await;
    let version = subject.memory().read_version(&acme, mina).await;
    assert_eq!(
        version.expect("answers"),
        read.fresh.map(|fresh| fresh.version)
    );
}

/// A user of one tenant has no version in another, and an unknown tenant has none.
pub async fn a_version_belongs_to_its_tenant(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store_one(subject, &acme, turn(mina, "a").build()).await;
    for name in LOOKALIKES.into_iter().filter(|name| *name != "acme") {
        let other = subject.tenant(name, 90).await;
        let version = subject.memory().read_version(&other, mina).await;
        assert_eq!(version.expect("answers"), None);
    }
    let nowhere = TenantId::parse("nowhere").expect("well-formed");
    let version = subject.memory().read_version(&nowhere, mina).await;
    assert!(matches!(
        version,
        Ok(None) | Err(MemoryError::UnknownTenant(_))
    ));
}

/// Questions at the same moment, of people of several tenants, are each answered of their own person.
pub async fn versions_asked_at_once_are_each_of_their_own_person(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let other = subject.tenant("other", 90).await;
    let mut people = vec![(acme.clone(), mina), (other.clone(), mina)];
    for number in 0..6 {
        let tenant = if number % 2 == 0 { &acme } else { &other };
        let user = subject.user(tenant).await;
        for turns in 0..=number {
            let said = turn(user, &format!("{number} {turns}")).build();
            store_one(subject, tenant, said).await;
        }
        people.push((tenant.clone(), user));
    }
    let mut expected = Vec::new();
    for (tenant, user) in &people {
        let version = subject.memory().read_version(tenant, *user).await;
        expected.push(version.expect("answers"));
    }
    for _ in 0..5 {
        let questions = people.iter().cycle().take(people.len() * 8).cloned();
        let questions = questions.map(|(tenant, user)| {
            let memory = subject.memory();
            async move { memory.read_version(&tenant, user).await.expect("answers") }
        });
        let answers = together(questions.collect()).await;
        let expected = expected.iter().cycle().take(answers.len()).copied();
        assert_eq!(answers, expected.collect::<Vec<_>>());
    }
}
