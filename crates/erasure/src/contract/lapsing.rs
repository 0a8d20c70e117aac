//! Cases of an address that was given to somebody else (D-07).

use std::time::Duration;

use throughline_conversation_memory::AuditQuery;
use throughline_domain::TenantId;
use throughline_platform_identity::{
    ChannelUser, ClaimState, IdentityError, NormalizedEmail, PlatformKind, ReviewReason,
    RevokedClaim,
};

use super::Subject;
use super::sample::{MAIL, erase, joining, mailed, operator, questions, seen, slack, teams};
use crate::Mode;

const DAY: Duration = Duration::from_hours(24);

/// D-07 b: after 61 days without the holder a newcomer is somebody else, and holds the address.
pub async fn an_address_unconfirmed_for_long_joins_nobody(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    subject.clock().advance(61 * DAY);
    let heir = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert!(heir.is_new);
    assert_eq!(
        questions(subject, &acme).await,
        [(ReviewReason::LapsedClaim, mina, heir.user_id)]
    );
    let same = seen(subject, &acme, &teams("T2", MAIL)).await;
    assert_eq!((same.user_id, same.is_new), (heir.user_id, false));
}

/// D-07 b: being seen is enough, also without a word on the address.
pub async fn a_holder_that_is_seen_keeps_the_address(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let silent = ChannelUser::new(PlatformKind::TeamsAad, "T1").expect("a plain id");
    for _ in 0..3 {
        subject.clock().advance(50 * DAY);
        seen(subject, &acme, &silent).await;
    }
    let same = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert_eq!((same.user_id, same.is_new), (mina, false));
}

/// D-07 a: who reports another address, or the same one unverified, no longer holds the first.
pub async fn an_address_that_was_given_up_joins_nobody(subject: &dyn Subject) {
    let news = [
        teams("T1", "mina.new@corp.example"),
        mailed(PlatformKind::TeamsAad, "T1", "mina.new@corp.example", None),
        mailed(PlatformKind::TeamsAad, "T1", MAIL, Some(false)),
    ];
    for (number, news) in news.into_iter().enumerate() {
        let acme = joining(subject, &format!("acme-{number}")).await;
        let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
        seen(subject, &acme, &news).await;
        let heir = seen(subject, &acme, &slack("S1", MAIL)).await;
        assert!(heir.is_new, "{number}");
        let asked = (ReviewReason::LapsedClaim, mina, heir.user_id);
        assert_eq!(questions(subject, &acme).await, [asked], "{number}");
    }
}

/// D-07, failures.md 18: two accounts of one channel are two people, and until somebody decided the
/// address joins nobody at all.
pub async fn two_accounts_of_one_channel_are_never_joined(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let other = seen(subject, &acme, &teams("T2", MAIL)).await;
    assert!(other.is_new);
    let third = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert!(third.is_new);
    let mut asked = questions(subject, &acme).await;
    asked.sort_unstable();
    let mut expected = [
        (ReviewReason::SameKind, mina, other.user_id),
        (ReviewReason::ContestedClaim, mina, third.user_id),
    ];
    expected.sort_unstable();
    assert_eq!(asked, expected);
}

/// D-07 d: nothing of the holder is left to ask about.
pub async fn the_address_of_an_erased_person_is_free(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    let heir = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert!(heir.is_new && heir.user_id != mina);
    assert_eq!(questions(subject, &acme).await, []);
    let same = seen(subject, &acme, &teams("T1", MAIL)).await;
    assert_eq!(same.user_id, heir.user_id);
}

async fn revoke(
    subject: &dyn Subject,
    tenant: &TenantId,
    email: &str,
) -> Result<RevokedClaim, IdentityError> {
    let email = NormalizedEmail::of(email).expect("an address");
    let identity = subject.identity();
    identity.revoke_claim(tenant, &email, &operator()).await
}

/// D-07 c: it joins nobody, and its holder cannot confirm it back.
pub async fn a_revoked_address_joins_nobody(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let corp = joining(subject, "acme-corp").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let twin = seen(subject, &corp, &teams("T1", MAIL)).await.user_id;
    let revoked = revoke(subject, &acme, &MAIL.to_uppercase()).await;
    let expected = RevokedClaim {
        user_id: mina,
        was: ClaimState::Live,
    };
    assert_eq!(revoked.expect("revoked"), expected);
    subject.clock().advance(DAY);
    seen(subject, &acme, &teams("T1", MAIL)).await;
    let heir = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert!(heir.is_new && heir.user_id != mina);
    let asked = (ReviewReason::ContestedClaim, mina, heir.user_id);
    assert_eq!(questions(subject, &acme).await, [asked]);
    let elsewhere = seen(subject, &corp, &slack("S1", MAIL)).await;
    assert_eq!(elsewhere.user_id, twin, "another tenant's claim stands");
}

/// R-110, R-111: who did it to whom, once, and not the address; the id goes with the person.
pub async fn revoking_is_audited_without_the_address(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    revoke(subject, &acme, MAIL).await.expect("revoked");
    let again = revoke(subject, &acme, MAIL).await;
    assert!(matches!(again, Err(IdentityError::NoChange)), "{again:?}");
    let nobodys = revoke(subject, &acme, "nobody@corp.example").await;
    assert!(
        matches!(nobodys, Err(IdentityError::UnknownClaim)),
        "{nobodys:?}"
    );
    let nowhere = TenantId::parse("nowhere").expect("a plain name");
    let refused = revoke(subject, &nowhere, MAIL).await;
    assert!(
        matches!(refused, Err(IdentityError::UnknownTenant(_))),
        "{refused:?}"
    );
    let events = async || {
        let events = subject.audit().events(&acme, &AuditQuery::latest(10)).await;
        events.expect("reads")
    };
    let all = events().await;
    assert_eq!(all.len(), 1);
    assert_eq!(
        (&all[0].actor, all[0].user_id, all[0].target_id),
        (&operator(), Some(mina), None)
    );
    assert_eq!(all[0].detail.to_json(), r#"{"previousState":"live"}"#);
    let receipt = erase(subject, &acme, mina, Mode::Erase).await;
    assert_eq!(receipt.expect("erased").counts.nullified_audit_rows, 1);
    let left = events().await;
    assert!(left.iter().all(|event| event.user_id.is_none()), "{left:?}");
}
