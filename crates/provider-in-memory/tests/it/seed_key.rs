//! The key of `serve --dev`.

use throughline_domain::{Actor, KeyId, TenantId};
use throughline_tenancy::{Principal, Scopes, Tenancy, TenantConfig, TenantStatus, Token};

use crate::subject::subject;

fn client(tenant: &TenantId) -> Principal {
    Principal::Tenant {
        tenant: tenant.clone(),
        key: KeyId::from_u128(1),
        scopes: Scopes::all(),
        suspended: false,
    }
}

#[tokio::test]
async fn a_seeded_token_of_any_shape_is_let_in() {
    let subject = subject().await;
    let dev = subject.tenant("dev", TenantConfig::default()).await;
    let operator = Principal::Operator {
        actor: Actor::parse("dev").unwrap(),
        key: KeyId::from_u128(2),
    };
    let (theirs, ours) = ("a plain word of any kind", "another plain word");
    subject
        .store
        .seed_key(&Token::from_header(theirs), client(&dev));
    subject
        .store
        .seed_key(&Token::from_header(ours), operator.clone());
    for (text, expected) in [
        (theirs, Some(client(&dev))),
        (ours, Some(operator)),
        ("a plain word of any kin", None),
        ("A plain word of any kind", None),
        ("", None),
    ] {
        let holder = subject.store.authenticate(&Token::from_header(text)).await;
        assert_eq!(holder.unwrap(), expected, "{text}");
    }
    assert_eq!(subject.store.keys(&dev).await.unwrap(), []);
}

#[tokio::test]
async fn a_seeded_token_follows_its_tenants_status() {
    let subject = subject().await;
    let dev = subject.tenant("dev", TenantConfig::default()).await;
    let token = Token::from_header("a plain word of any kind");
    subject.store.seed_key(&token, client(&dev));
    for status in [TenantStatus::Suspended, TenantStatus::Active] {
        subject.store.set_status(&dev, status).await.unwrap();
        let holder = subject.store.authenticate(&token).await.unwrap();
        let expected = status == TenantStatus::Suspended;
        assert!(
            matches!(holder, Some(Principal::Tenant { suspended, .. }) if suspended == expected),
            "{holder:?}"
        );
    }
}
