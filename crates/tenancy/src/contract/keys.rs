//! Cases of minting, listing and revoking a tenant's keys.

use std::time::Duration;

use throughline_domain::Clock;

use super::Subject;
use super::sample::{made, name, nobodys_key, reader};
use crate::{KeyRecord, NewKey, Scope, Scopes, TenancyError};

/// The record says what was asked for, and the token claims that very key.
pub async fn a_minted_key_is_listed_as_asked_for(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let scopes: Scopes = [Scope::TurnsWrite, Scope::IdentityResolve]
        .into_iter()
        .collect();
    let asked = NewKey {
        label: "Slack «bridge» 🌉".to_owned(),
        scopes: scopes.clone(),
    };
    let minted = tenancy
        .mint_key(&acme, asked.clone())
        .await
        .expect("minted");
    let expected = KeyRecord {
        id: minted.record.id,
        label: asked.label,
        scopes,
        actor: None,
        created_at: subject.clock().now(),
        revoked_at: None,
    };
    assert_eq!(minted.record, expected);
    assert_eq!(
        minted.token.claims(),
        Some((crate::KeyOwner::Tenant(acme.clone()), expected.id))
    );
    assert_eq!(tenancy.keys(&acme).await.expect("reads"), [expected]);
}

/// Two keys of one tenant share neither id nor token, even with one label.
pub async fn two_keys_are_never_equal(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let one = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    let two = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    assert_ne!(one.record.id, two.record.id);
    assert_ne!(one.token.reveal(), two.token.reveal());
}

/// failures.md 33: what is listed or printed never holds the secret.
pub async fn a_list_of_keys_never_holds_a_token(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let minted = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    let listed = tenancy.keys(&acme).await.expect("reads");
    let (_, secret) = minted.token.reveal().rsplit_once(':').expect("our shape");
    for printed in [format!("{listed:?}"), format!("{minted:?}")] {
        assert!(!printed.contains(secret), "a secret was printed");
    }
}

/// Oldest first, the revoked ones too.
pub async fn keys_are_listed_oldest_first_with_the_revoked_ones(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    assert_eq!(tenancy.keys(&acme).await.expect("reads"), []);
    let mut expected = Vec::new();
    for label in ["c", "a", "b"] {
        let minted = tenancy
            .mint_key(&acme, reader(label))
            .await
            .expect("minted");
        expected.push(minted.record);
        subject.clock().advance(Duration::from_millis(5));
    }
    let revoked = tenancy
        .revoke_key(&acme, expected[1].id)
        .await
        .expect("revoked");
    expected[1].revoked_at = Some(subject.clock().now());
    assert_eq!(revoked, expected[1]);
    assert_eq!(tenancy.keys(&acme).await.expect("reads"), expected);
}

/// Revoking again keeps the first moment.
pub async fn a_key_is_revoked_once(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let minted = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    let first = tenancy
        .revoke_key(&acme, minted.record.id)
        .await
        .expect("revoked");
    subject.clock().advance(Duration::from_secs(9));
    let again = tenancy
        .revoke_key(&acme, minted.record.id)
        .await
        .expect("revoked");
    assert_eq!(first.revoked_at, Some(first.created_at));
    assert_eq!(again, first);
    assert_eq!(tenancy.keys(&acme).await.expect("reads"), [first]);
}

/// failures.md 10, 13: a key can be listed and revoked only through its own tenant, and never as an
/// operator's.
pub async fn a_key_of_one_tenant_is_out_of_reach_of_another(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let minted = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    let key = minted.record.id;
    for text in ["acme-corp", "acme_corp"] {
        let other = made(subject, text).await;
        assert_eq!(tenancy.keys(&other).await.expect("reads"), []);
        let refused = tenancy.revoke_key(&other, key).await;
        assert!(
            matches!(refused, Err(TenancyError::UnknownKey(id)) if id == key),
            "{refused:?}"
        );
    }
    assert_eq!(tenancy.operator_keys().await.expect("reads"), []);
    let refused = tenancy.revoke_operator_key(key).await;
    assert!(
        matches!(refused, Err(TenancyError::UnknownKey(_))),
        "{refused:?}"
    );
    assert_eq!(tenancy.keys(&acme).await.expect("reads"), [minted.record]);
    let holder = tenancy.authenticate(&minted.token).await.expect("answers");
    assert!(holder.is_some(), "the key was revoked from outside");
}

/// A key that was never minted cannot be revoked.
pub async fn an_unknown_key_cannot_be_revoked(subject: &dyn Subject) {
    let acme = made(subject, "acme").await;
    let refused = subject.tenancy().revoke_key(&acme, nobodys_key()).await;
    assert!(
        matches!(refused, Err(TenancyError::UnknownKey(id)) if id == nobodys_key()),
        "{refused:?}"
    );
}

/// Keys of a tenant that is not there are a typed error, never an empty list (failures.md 34).
pub async fn an_unknown_tenant_has_no_keys(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    made(subject, "acme-corp").await;
    let acme = name("acme");
    for error in [
        tenancy.mint_key(&acme, reader("x")).await.err(),
        tenancy.keys(&acme).await.err(),
        tenancy.revoke_key(&acme, nobodys_key()).await.err(),
    ] {
        assert!(
            matches!(&error, Some(TenancyError::UnknownTenant(id)) if *id == acme),
            "{error:?}"
        );
    }
}
