//! Cases of operators' keys.

use std::time::Duration;

use throughline_domain::Clock;

use super::Subject;
use super::sample::{actor, made, nobodys_key};
use crate::{KeyOwner, KeyRecord, Principal, Scopes, TenancyError};

/// The record names the operator; the token claims an operator's key.
pub async fn an_operators_key_names_its_actor(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let ines = actor("Inès on call");
    let minted = tenancy
        .mint_operator_key(&ines, "laptop")
        .await
        .expect("minted");
    let expected = KeyRecord {
        id: minted.record.id,
        label: "laptop".to_owned(),
        scopes: Scopes::default(),
        actor: Some(ines.clone()),
        created_at: subject.clock().now(),
        revoked_at: None,
    };
    assert_eq!(minted.record, expected);
    assert_eq!(
        minted.token.claims(),
        Some((KeyOwner::Operator, expected.id))
    );
    let key = expected.id;
    assert_eq!(tenancy.operator_keys().await.expect("reads"), [expected]);
    assert_eq!(
        tenancy.authenticate(&minted.token).await.expect("answers"),
        Some(Principal::Operator { actor: ines, key })
    );
}

/// Oldest first, the revoked ones too; revoking again keeps the first moment.
pub async fn operators_keys_are_listed_oldest_first_and_revoked_once(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let mut expected = Vec::new();
    let mut tokens = Vec::new();
    for name in ["zoe", "ada"] {
        let minted = tenancy
            .mint_operator_key(&actor(name), "")
            .await
            .expect("minted");
        expected.push(minted.record);
        tokens.push(minted.token);
        subject.clock().advance(Duration::from_millis(5));
    }
    let key = expected[0].id;
    let first = tenancy.revoke_operator_key(key).await.expect("revoked");
    expected[0].revoked_at = Some(subject.clock().now());
    subject.clock().advance(Duration::from_secs(9));
    let again = tenancy.revoke_operator_key(key).await.expect("revoked");
    assert_eq!((&first, &again), (&expected[0], &expected[0]));
    assert_eq!(tenancy.operator_keys().await.expect("reads"), expected);
    let revoked = tenancy.authenticate(&tokens[0]).await.expect("answers");
    let valid = tenancy.authenticate(&tokens[1]).await.expect("answers");
    assert_eq!((revoked, valid.is_some()), (None, true));
}

/// failures.md 13: an operator's key is no tenant's, not even of a tenant called "operator".
pub async fn an_operators_key_belongs_to_no_tenant(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let tenant = made(subject, "operator").await;
    let minted = tenancy
        .mint_operator_key(&actor("zoe"), "x")
        .await
        .expect("minted");
    assert_eq!(tenancy.keys(&tenant).await.expect("reads"), []);
    let refused = tenancy.revoke_key(&tenant, minted.record.id).await;
    assert!(
        matches!(refused, Err(TenancyError::UnknownKey(_))),
        "{refused:?}"
    );
    let refused = tenancy.revoke_operator_key(nobodys_key()).await;
    assert!(
        matches!(refused, Err(TenancyError::UnknownKey(_))),
        "{refused:?}"
    );
    let holder = tenancy.authenticate(&minted.token).await.expect("answers");
    assert!(
        matches!(holder, Some(Principal::Operator { .. })),
        "{holder:?}"
    );
}
