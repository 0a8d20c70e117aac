//! Cases of `resolve`: who is who.

use std::collections::HashSet;

use throughline_domain::TenantId;

use super::Subject;
use super::sample::{LOOKALIKES, mailed, named, platform_id, resolved, slack};
use super::together::together;
use crate::{ChannelUser, IdentityError, PlatformKind, PlatformUserId};

/// R-040, T-04: the first sight makes a user, every later one finds it.
pub async fn a_ref_keeps_its_user_forever(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let identity = subject.identity();
    let mina = slack("U1");
    let first = identity.resolve(&acme, &mina).await.expect("resolves");
    let again = identity.resolve(&acme, &mina).await.expect("resolves");
    assert!(first.is_new && !again.is_new);
    assert_eq!(first.user_id, again.user_id);
}

/// R-046, failures.md 22: concurrent first sights make one user, and exactly one caller made it.
pub async fn concurrent_first_sights_make_one_user(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let calls = (0..50)
        .map(|_| {
            let (identity, acme) = (subject.identity(), acme.clone());
            async move { identity.resolve(&acme, &slack("U1")).await }
        })
        .collect();
    let mut ids = HashSet::new();
    let mut made = 0;
    for answer in together(calls).await {
        let resolved = answer.expect("resolves");
        ids.insert(resolved.user_id);
        made += usize::from(resolved.is_new);
    }
    assert_eq!((ids.len(), made), (1, 1));
}

/// Concurrent first sights of different people make as many users.
pub async fn concurrent_first_sights_of_many_make_many(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let calls = (0..50)
        .map(|number| {
            let (identity, acme) = (subject.identity(), acme.clone());
            let who = slack(&format!("U{number}"));
            async move { identity.resolve(&acme, &who).await }
        })
        .collect();
    let mut ids = HashSet::new();
    for answer in together(calls).await {
        let resolved = answer.expect("resolves");
        assert!(resolved.is_new);
        ids.insert(resolved.user_id);
    }
    assert_eq!(ids.len(), 50);
}

/// Ids that a trim, a case fold, a normal form, a glued key or a cut would mix up.
fn confusable_refs() -> Vec<PlatformUserId> {
    let composed = "jos\u{e9}";
    let decomposed = "jose\u{301}";
    let mut refs = vec![];
    for id in [
        "U1",
        "u1",
        " U1",
        "U1 ",
        "U1\n",
        "U 1",
        "U1:",
        ":U1",
        composed,
        decomposed,
        "a:b,c",
        "a,b:c",
        "a:b",
        "b",
        "slack-user:U1",
        "а",
        "a",
        "%",
        "_",
        "U_",
        "\\",
        "'",
        "\u{fffd}",
        "0",
        "00",
        "null",
    ] {
        refs.push(platform_id(PlatformKind::SlackUser, id));
    }
    let long = "x".repeat(PlatformUserId::MAX_BYTES);
    refs.push(platform_id(PlatformKind::SlackUser, &long));
    refs.push(platform_id(PlatformKind::SlackUser, &long[1..]));
    for kind in PlatformKind::ALL {
        refs.push(platform_id(kind, "12345"));
    }
    refs
}

/// failures.md 10, 21: ids are opaque; two that differ in a byte or in kind are two people.
pub async fn refs_that_look_alike_are_different_people(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let refs = confusable_refs();
    let mut users = Vec::new();
    for id in &refs {
        let who = ChannelUser::new(id.kind, id.id()).expect("a usable id");
        let resolved = subject
            .identity()
            .resolve(&acme, &who)
            .await
            .expect("resolves");
        assert!(resolved.is_new, "{:?} was taken for another", id.id());
        users.push(resolved.user_id);
    }
    assert_eq!(users.iter().collect::<HashSet<_>>().len(), refs.len());
    for (id, user) in refs.iter().zip(users) {
        let found = subject.identity().lookup(&acme, id).await.expect("answers");
        assert_eq!(found, Some(user), "{:?}", id.id());
    }
}

/// R-042, T-01: without auto-merge one address, even a verified one, makes nobody the same person.
pub async fn an_equal_address_merges_nobody(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let email = "mina@example.org";
    let one = resolved(subject, &acme, &mailed("U1", email, Some(true))).await;
    let two = resolved(subject, &acme, &mailed("U2", email, Some(true))).await;
    let three = resolved(subject, &acme, &slack("U3")).await;
    let renamed = resolved(subject, &acme, &mailed("U3", email, Some(true))).await;
    assert_eq!(renamed, three);
    assert_eq!(HashSet::from([one, two, three]).len(), 3);
}

/// another name or address keeps the user.
pub async fn a_rename_keeps_the_user(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let identity = subject.identity();
    let first = resolved(subject, &acme, &named("U1", "Mina")).await;
    for who in [
        named("U1", "Mina K."),
        mailed("U1", "mina@example.org", Some(true)),
        mailed("U1", "mina.k@example.org", Some(false)),
        slack("U1"),
    ] {
        let again = identity.resolve(&acme, &who).await.expect("resolves");
        assert_eq!((again.user_id, again.is_new), (first, false));
    }
}

/// failures.md 9, 10: one ref in three tenants is three people.
pub async fn one_ref_in_three_tenants_is_three_people(subject: &dyn Subject) {
    let mut users = HashSet::new();
    for name in LOOKALIKES {
        let tenant: TenantId = subject.tenant(name).await;
        let resolved = subject.identity().resolve(&tenant, &slack("U1")).await;
        let resolved = resolved.expect("resolves");
        assert!(resolved.is_new, "{name} was taken for another tenant");
        users.insert(resolved.user_id);
    }
    assert_eq!(users.len(), 3);
}

/// A tenant that is not there is a typed error, and no user is made.
pub async fn nobody_is_resolved_in_an_unknown_tenant(subject: &dyn Subject) {
    subject.tenant("acme-corp").await;
    let acme = TenantId::parse("acme").expect("a plain name");
    let refused = subject.identity().resolve(&acme, &slack("U1")).await;
    assert!(
        matches!(&refused, Err(IdentityError::UnknownTenant(id)) if *id == acme),
        "{refused:?}"
    );
    let acme = subject.tenant("acme").await;
    let first = subject.identity().resolve(&acme, &slack("U1")).await;
    assert!(first.expect("resolves").is_new);
}
