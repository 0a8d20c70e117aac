//! Cases of `authenticate`.

use throughline_domain::KeyId;

use super::Subject;
use super::sample::{LOOKALIKES, actor, made, nobodys_key, reader};
use crate::{KeyOwner, Principal, TenantStatus, Token};

async fn holder(subject: &dyn Subject, token: &Token) -> Option<Principal> {
    subject
        .tenancy()
        .authenticate(token)
        .await
        .expect("answers")
}

/// A valid token answers with its tenant, key and scopes, and never with a lookalike's
/// (failures.md 10).
pub async fn a_token_speaks_for_its_own_tenant(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let mut minted = Vec::new();
    for text in LOOKALIKES {
        let tenant = made(subject, text).await;
        let key = tenancy
            .mint_key(&tenant, reader(text))
            .await
            .expect("minted");
        minted.push((tenant, key));
    }
    for (tenant, key) in minted {
        let expected = Principal::Tenant {
            tenant,
            key: key.record.id,
            scopes: key.record.scopes,
            suspended: false,
        };
        assert_eq!(holder(subject, &key.token).await, Some(expected));
    }
}

/// The flag follows the tenant's status at once and concerns that tenant alone.
pub async fn a_token_tells_that_its_tenant_is_suspended(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let other = made(subject, "acme-corp").await;
    let key = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    let others = tenancy.mint_key(&other, reader("x")).await.expect("minted");
    let suspended = async |token: &Token| match holder(subject, token).await {
        Some(Principal::Tenant { suspended, .. }) => suspended,
        other => panic!("no tenant's key: {other:?}"),
    };
    for status in [TenantStatus::Suspended, TenantStatus::Active] {
        tenancy.set_status(&acme, status).await.expect("changed");
        let expected = status == TenantStatus::Suspended;
        assert_eq!(suspended(&key.token).await, expected);
        assert!(!suspended(&others.token).await);
    }
}

/// From the moment it is revoked a key is nobody's; its neighbour stays.
pub async fn a_revoked_token_is_nobodys(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let gone = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    let kept = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    assert!(holder(subject, &gone.token).await.is_some());
    tenancy
        .revoke_key(&acme, gone.record.id)
        .await
        .expect("revoked");
    assert_eq!(holder(subject, &gone.token).await, None);
    assert!(holder(subject, &kept.token).await.is_some());
}

/// The right id with another secret, owner or key is refused; so is a token cut short or padded.
pub async fn a_forged_token_is_nobodys(subject: &dyn Subject) {
    let tenancy = subject.tenancy();
    let acme = made(subject, "acme").await;
    let other = made(subject, "acme-corp").await;
    let key = tenancy.mint_key(&acme, reader("x")).await.expect("minted");
    let ops = tenancy
        .mint_operator_key(&actor("zoe"), "x")
        .await
        .expect("minted");
    let forge = |owner: KeyOwner, id: KeyId, secret_of: &Token| {
        let empty = Token::assemble(&owner, id, &[0; 32]);
        let (claim, _) = empty.reveal().rsplit_once(':').expect("our shape");
        let (_, secret) = secret_of.reveal().rsplit_once(':').expect("our shape");
        Token::from_header(&format!("{claim}:{secret}"))
    };
    let own = KeyOwner::Tenant(acme);
    let id = key.record.id;
    // The forger itself is sound: right claim and right secret open.
    assert!(
        holder(subject, &forge(own.clone(), id, &key.token))
            .await
            .is_some()
    );
    let cut = key.token.reveal().len() - 1;
    for forged in [
        Token::assemble(&own, id, &[0; 32]),
        forge(own.clone(), id, &ops.token),
        forge(own.clone(), nobodys_key(), &key.token),
        forge(own, ops.record.id, &ops.token),
        forge(KeyOwner::Tenant(other), id, &key.token),
        forge(KeyOwner::Operator, id, &key.token),
        Token::from_header(&key.token.reveal()[..cut]),
        Token::from_header(&format!("{} ", key.token.reveal())),
        Token::from_header(&key.token.reveal().to_ascii_lowercase()),
    ] {
        assert_eq!(holder(subject, &forged).await, None);
    }
}

/// A text that is no token, or names a tenant that is not there, is nobody's and no error
/// (failures.md 25: not even with a NUL).
pub async fn a_text_that_is_no_token_is_nobodys(subject: &dyn Subject) {
    made(subject, "acme").await;
    let long = "x".repeat(100_000);
    let absent = Token::assemble(
        &KeyOwner::Tenant(super::sample::name("nobody")),
        nobodys_key(),
        &[7; 32],
    );
    for text in [
        "",
        " ",
        "tlk_",
        "tlk_acme",
        "a\0b",
        "tlk_::x:y",
        "' or 1=1 --",
        &long,
        absent.reveal(),
    ] {
        assert_eq!(holder(subject, &Token::from_header(text)).await, None);
    }
}
