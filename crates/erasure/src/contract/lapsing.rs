//! Cases of an address that was given to somebody else (D-07).

use std::time::Duration;

use throughline_platform_identity::{ChannelUser, PlatformKind, ReviewReason};

use super::Subject;
use super::sample::{MAIL, erase, joining, mailed, questions, seen, slack, teams};
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
