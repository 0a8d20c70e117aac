use super::*;
use crate::ChannelUser;

const DAY: Duration = Duration::from_hours(24);

fn now() -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000)
}

fn policy() -> ClaimPolicy {
    ClaimPolicy {
        auto_merge: true,
        verified_kinds: vec![PlatformKind::TeamsAad, PlatformKind::SlackUser],
        ttl: 60 * DAY,
    }
}

fn holder() -> UserId {
    UserId::from_u128(1)
}

fn id(kind: PlatformKind, id: &str) -> PlatformUserId {
    PlatformUserId::new(kind, id).unwrap()
}

fn claim(state: ClaimState, age: Duration) -> Claim {
    Claim {
        holder: holder(),
        state,
        last_confirmed_at: now().minus(age),
        holder_ids: vec![id(PlatformKind::TeamsAad, "T1")],
    }
}

fn profile(verified: Option<bool>) -> Profile {
    let user = ChannelUser::new(PlatformKind::TeamsAad, "T1").unwrap();
    Profile::of(&user.with_email("Mina@Corp.com", verified).unwrap())
}

/// What a store does with two first sights of one address, one after the other.
fn joined(first: Option<bool>, second: Option<bool>, policy: &ClaimPolicy) -> bool {
    let stored = policy
        .vouched(PlatformKind::TeamsAad, &profile(first))
        .map(|_| claim(ClaimState::Live, DAY));
    let asks = policy.vouched(PlatformKind::SlackUser, &profile(second));
    let newcomer = id(PlatformKind::SlackUser, "S1");
    let decision = first_sight(policy, &newcomer, asks.and(stored.as_ref()), now());
    decision == FirstSight::Attach(holder())
}

// failures.md 19, R-043, T-03
#[test]
fn only_verified_on_both_sides_joins() {
    let sides = [Some(true), Some(false), None];
    for first in sides {
        for second in sides {
            let both = first == Some(true) && second == Some(true);
            assert_eq!(
                joined(first, second, &policy()),
                both,
                "{first:?} {second:?}"
            );
        }
    }
}

//
#[test]
fn the_tenant_must_allow_it_and_trust_both_channels() {
    let off = ClaimPolicy {
        auto_merge: false,
        ..policy()
    };
    assert!(!joined(Some(true), Some(true), &off));
    for trusted in [PlatformKind::TeamsAad, PlatformKind::SlackUser] {
        let one = ClaimPolicy {
            verified_kinds: vec![trusted],
            ..policy()
        };
        assert!(!joined(Some(true), Some(true), &one), "{trusted}");
    }
}

// D-07, as a table: state of the claim, days since it was confirmed, the newcomer's channel.
#[test]
fn a_recycled_address_joins_nobody() {
    use ClaimState::{Lapsed, Live, Revoked};
    use PlatformKind::{SlackUser, TeamsAad};
    let asked = |reason, claim| FirstSight::NewUserWithReview { reason, claim };
    let lapsed = asked(ReviewReason::LapsedClaim, ClaimEffect::Take);
    let contested = asked(ReviewReason::ContestedClaim, ClaimEffect::Leave);
    let same_kind = asked(ReviewReason::SameKind, ClaimEffect::Revoke);
    let attach = FirstSight::Attach(holder());
    for (state, days, kind, expected) in [
        (Live, 0, SlackUser, attach),
        (Live, 60, SlackUser, attach),
        (Live, 61, SlackUser, lapsed),
        (Live, 0, TeamsAad, same_kind),
        (Live, 61, TeamsAad, lapsed),
        (Lapsed, 0, SlackUser, lapsed),
        (Lapsed, 0, TeamsAad, lapsed),
        (Revoked, 0, SlackUser, contested),
        (Revoked, 0, TeamsAad, contested),
        (Revoked, 61, SlackUser, contested),
    ] {
        let stored = claim(state, days * DAY);
        let decision = first_sight(&policy(), &id(kind, "new"), Some(&stored), now());
        assert_eq!(decision, expected, "{state:?} {days} {kind}");
    }
    let decision = first_sight(&policy(), &id(SlackUser, "new"), None, now());
    assert_eq!(decision, FirstSight::NewUser);
}

// R-045, D-07
#[test]
fn a_later_sight_never_joins_and_asks_when_addresses_collide() {
    use ClaimState::{Lapsed, Live, Revoked};
    let other = UserId::from_u128(2);
    for (state, days, person, effect, review) in [
        (Live, 0, holder(), ClaimEffect::Confirm, None),
        (Live, 61, holder(), ClaimEffect::Confirm, None),
        (Lapsed, 0, holder(), ClaimEffect::Confirm, None),
        (Revoked, 0, holder(), ClaimEffect::Leave, None),
        (
            Live,
            0,
            other,
            ClaimEffect::Leave,
            Some(ReviewReason::Collision),
        ),
        (
            Live,
            61,
            other,
            ClaimEffect::Take,
            Some(ReviewReason::LapsedClaim),
        ),
        (
            Lapsed,
            0,
            other,
            ClaimEffect::Take,
            Some(ReviewReason::LapsedClaim),
        ),
        (
            Revoked,
            0,
            other,
            ClaimEffect::Leave,
            Some(ReviewReason::ContestedClaim),
        ),
    ] {
        let stored = claim(state, days * DAY);
        let decision = later_sight(&policy(), person, Some(&stored), now());
        let expected = LaterSight {
            claim: effect,
            review,
        };
        assert_eq!(decision, expected, "{state:?} {days} {person}");
    }
    let first_claim = later_sight(&policy(), other, None, now());
    assert_eq!(first_claim.claim, ClaimEffect::Take);
}

// D-07 a
#[test]
fn an_address_is_given_up_by_reporting_another_or_no_longer_vouching() {
    let user = |email: &str, verified| {
        let user = ChannelUser::new(PlatformKind::TeamsAad, "T1").unwrap();
        user.with_email(email, verified).unwrap()
    };
    let before = Profile::of(&user("mina@corp.com", Some(true)));
    let gone = |seen: &ChannelUser| given_up(&before, &before.after(seen)).is_some();
    assert!(!gone(
        &ChannelUser::new(PlatformKind::TeamsAad, "T1").unwrap()
    ));
    assert!(!gone(&user("MINA@corp.com", None)));
    assert!(!gone(&user("MINA@corp.com", Some(true))));
    assert!(gone(&user("mina@corp.com", Some(false))));
    assert!(gone(&user("mina.new@corp.com", Some(true))));
    assert!(gone(&user("mina.new@corp.com", None)));
}
