//! Cases of `resolve`: what a later sight changes of the stored identity.

use std::time::Duration;

use throughline_domain::Clock;

use super::Subject;
use super::sample::{LOOKALIKES, mailed, named, only_identity, resolved, slack};
use super::together::together;
use crate::{ClaimSource, Identity};

/// A first sight stores what the channel said, byte for byte, as claimed by the system (T-56).
pub async fn a_first_sight_stores_what_the_channel_said(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let name = " Mína «K» 👩‍🚀 \u{202e}x\\'\" ";
    let who = mailed("U1", "Mina+x@Example.org", Some(true))
        .with_display_name(name)
        .expect("a usable name");
    let user = resolved(subject, &acme, &who).await;
    let now = subject.clock().now();
    let expected = Identity {
        id: who.id.clone(),
        display_name: Some(name.to_owned()),
        email: Some("Mina+x@Example.org".to_owned()),
        email_verified: true,
        shared: false,
        first_seen_at: now,
        last_seen_at: now,
        claim_source: ClaimSource::System,
    };
    assert_eq!(only_identity(subject, &acme, user).await, expected);
}

/// What the channel does not say is absent, and an address nobody vouched for is not verified.
pub async fn what_was_not_said_is_absent(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let bare = resolved(subject, &acme, &slack("U1")).await;
    let bare = only_identity(subject, &acme, bare).await;
    assert_eq!((bare.display_name, bare.email), (None, None));
    assert!(!bare.email_verified);
    let mailed = resolved(subject, &acme, &mailed("U2", "m@example.org", None)).await;
    assert!(!only_identity(subject, &acme, mailed).await.email_verified);
}

/// T-02: what is absent from a later sight stays.
pub async fn an_absent_name_or_address_erases_nothing(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let who = mailed("U1", "m@example.org", Some(true))
        .with_display_name("Mina")
        .expect("a plain name");
    let user = resolved(subject, &acme, &who).await;
    let before = only_identity(subject, &acme, user).await;
    resolved(subject, &acme, &slack("U1")).await;
    assert_eq!(only_identity(subject, &acme, user).await, before);
    resolved(subject, &acme, &named("U1", "Mina K.")).await;
    let after = only_identity(subject, &acme, user).await;
    assert_eq!(after.display_name.as_deref(), Some("Mina K."));
    assert_eq!((after.email, after.email_verified), (before.email, true));
}

/// T-02: what is given replaces what was stored, an empty name too.
pub async fn a_given_name_or_address_replaces_the_stored_one(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let who = mailed("U1", "m@example.org", Some(false));
    let user = resolved(subject, &acme, &who).await;
    for (email, verified) in [
        ("m@example.org", true),
        ("m@example.org", false),
        ("n@example.org", true),
    ] {
        resolved(subject, &acme, &mailed("U1", email, Some(verified))).await;
        let stored = only_identity(subject, &acme, user).await;
        assert_eq!(
            (stored.email.as_deref(), stored.email_verified),
            (Some(email), verified)
        );
    }
    resolved(subject, &acme, &named("U1", "")).await;
    let stored = only_identity(subject, &acme, user).await;
    assert_eq!(stored.display_name.as_deref(), Some(""));
}

/// T-03: a word for the old address is no word for the new one.
pub async fn another_address_does_not_inherit_the_verification(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let user = resolved(subject, &acme, &mailed("U1", "m@example.org", Some(true))).await;
    resolved(subject, &acme, &mailed("U1", "m@example.org", None)).await;
    assert!(only_identity(subject, &acme, user).await.email_verified);
    resolved(subject, &acme, &mailed("U1", "victim@example.org", None)).await;
    let stored = only_identity(subject, &acme, user).await;
    assert_eq!(stored.email.as_deref(), Some("victim@example.org"));
    assert!(!stored.email_verified);
}

/// T-55: a person who writes every second costs one write a minute.
pub async fn last_seen_moves_once_a_minute(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let clock = subject.clock();
    let first = clock.now();
    let user = resolved(subject, &acme, &slack("U1")).await;
    let minute = Duration::from_mins(1);
    let almost = Duration::from_micros(59_999_999);
    let microsecond = Duration::from_micros(1);
    for (advance, expected) in [
        (almost, first),
        (microsecond, first.plus(minute)),
        (almost, first.plus(minute)),
        (microsecond * 2, first.plus(minute * 2).plus(microsecond)),
    ] {
        clock.advance(advance);
        resolved(subject, &acme, &slack("U1")).await;
        let stored = only_identity(subject, &acme, user).await;
        assert_eq!(
            (stored.first_seen_at, stored.last_seen_at),
            (first, expected)
        );
    }
}

/// T-55 spares a write, not the news: a new name inside the minute is stored.
pub async fn a_new_name_is_stored_within_the_minute(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let user = resolved(subject, &acme, &named("U1", "Mina")).await;
    subject.clock().advance(Duration::from_secs(1));
    resolved(subject, &acme, &named("U1", "Mina K.")).await;
    let stored = only_identity(subject, &acme, user).await;
    assert_eq!(stored.display_name.as_deref(), Some("Mina K."));
}

/// failures.md 9: a rename in one tenant is not seen in another.
pub async fn a_rename_stays_in_its_tenant(subject: &dyn Subject) {
    let mut known = Vec::new();
    for name in LOOKALIKES {
        let tenant = subject.tenant(name).await;
        let user = resolved(subject, &tenant, &named("U1", name)).await;
        known.push((tenant, user));
    }
    let (acme, mina) = known.remove(0);
    resolved(subject, &acme, &named("U1", "renamed")).await;
    let stored = only_identity(subject, &acme, mina).await;
    assert_eq!(stored.display_name.as_deref(), Some("renamed"));
    for (tenant, user) in known {
        let stored = only_identity(subject, &tenant, user).await;
        assert_eq!(stored.display_name.as_deref(), Some(tenant.as_str()));
    }
}

/// Concurrent sights with different names leave one identity with one of those names, whole.
pub async fn concurrent_renames_leave_one_whole_identity(subject: &dyn Subject) {
    let acme = subject.tenant("acme").await;
    let user = resolved(subject, &acme, &slack("U1")).await;
    let calls = (0..20)
        .map(|number| {
            let (identity, acme) = (subject.identity(), acme.clone());
            let who = mailed("U1", &format!("{number}@example.org"), Some(true))
                .with_display_name(&format!("{number}"))
                .expect("a plain name");
            async move { identity.resolve(&acme, &who).await }
        })
        .collect();
    for answer in together(calls).await {
        assert_eq!(answer.expect("resolves").user_id, user);
    }
    let stored = only_identity(subject, &acme, user).await;
    let name = stored.display_name.expect("a name was given");
    assert_eq!(stored.email, Some(format!("{name}@example.org")));
}
