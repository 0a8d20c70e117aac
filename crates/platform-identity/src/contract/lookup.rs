//! Cases of `lookup` and `user`.

use std::time::Duration;

use throughline_domain::TenantId;

use super::Subject;
use super::sample::{LOOKALIKES, named, nobody, platform_id, read, resolved, slack};
use crate::{IdentityError, PlatformKind, User, UserStatus};

/// A known ref answers with its user; one that differs in kind or id is unknown.
pub async fn a_lookup_finds_what_was_resolved_and_nothing_else(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let user = resolved(subject, &acme, &slack("U1")).await;
    for (kind, id, expected) in [
        (PlatformKind::SlackUser, "U1", Some(user)),
        (PlatformKind::SlackUser, "u1", None),
        (PlatformKind::SlackUser, "U", None),
        (PlatformKind::SlackUser, "U%", None),
        (PlatformKind::Custom, "U1", None),
    ] {
        let found = subject
            .identity()
            .lookup(&acme, &platform_id(kind, id))
            .await;
        assert_eq!(found.expect("answers"), expected, "{kind} {id}");
    }
}

/// A lookup of a known ref is no sight of it.
pub async fn a_lookup_changes_nothing(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let who = named("U1", "Mina");
    let user = resolved(subject, &acme, &who).await;
    let before = read(subject, &acme, user).await;
    subject.clock().advance(Duration::from_hours(1));
    let found = subject.identity().lookup(&acme, &who.id).await;
    assert_eq!(found.expect("answers"), Some(user));
    assert_eq!(read(subject, &acme, user).await, before);
}

/// A lookup of an unknown ref makes nobody.
pub async fn a_lookup_makes_no_user(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let who = slack("U1");
    for _ in 0..2 {
        let found = subject.identity().lookup(&acme, &who.id).await;
        assert_eq!(found.expect("answers"), None);
    }
    let first = subject.identity().resolve(&acme, &who).await;
    assert!(first.expect("resolves").is_new);
}

/// A user is read with every identity.
pub async fn a_user_is_read_with_its_identities(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let who = named("U1", "Mina");
    let mina = resolved(subject, &acme, &who).await;
    resolved(subject, &acme, &named("U2", "Noor")).await;
    let User {
        user_id,
        status,
        identities,
        merged_user_ids,
    } = read(subject, &acme, mina).await;
    assert_eq!((user_id, status), (mina, UserStatus::Active));
    assert_eq!(merged_user_ids, []);
    let ids: Vec<_> = identities.into_iter().map(|identity| identity.id).collect();
    assert_eq!(ids, [who.id]);
}

/// An id that nobody has is none, and no error.
pub async fn an_unknown_user_is_none(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let read = subject.identity().user(&acme, nobody()).await;
    assert_eq!(read.expect("answers"), None);
}

/// failures.md 9, 10: neither refs nor users of one tenant are found in its lookalikes.
pub async fn nobody_is_found_from_another_tenant(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let mina = resolved(subject, &acme, &slack("U1")).await;
    for name in &LOOKALIKES[1..] {
        let other = subject.tenant(name).await;
        let found = subject.identity().lookup(&other, &slack("U1").id).await;
        assert_eq!(found.expect("answers"), None, "{name}");
        let read = subject.identity().user(&other, mina).await;
        assert_eq!(read.expect("answers"), None, "{name}");
    }
}

/// failures.md 34: a tenant that is not there is a typed error, never "not found".
pub async fn nobody_is_looked_up_in_an_unknown_tenant(subject: &dyn Subject) {
    let corp = subject.tenant("acme-corp").await;
    let user = resolved(subject, &corp, &slack("U1")).await;
    let acme = TenantId::parse("acme").expect("a plain name");
    for error in [
        subject
            .identity()
            .lookup(&acme, &slack("U1").id)
            .await
            .err(),
        subject.identity().user(&acme, user).await.err(),
    ] {
        assert!(
            matches!(&error, Some(IdentityError::UnknownTenant(id)) if *id == acme),
            "{error:?}"
        );
    }
}
