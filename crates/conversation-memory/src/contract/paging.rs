//! Cases of reading `recent` page by page.

use std::collections::HashSet;
use std::time::Duration;

use throughline_domain::{TenantId, Timestamp, TurnId, UserId};

use super::sample::{DAY, MICROSECOND, acme_and_mina, go_on, ids, kind, limit, now, page, store};
use super::{Subject, turn};
use crate::{CanvasSessionId, Position, RecentQuery};

fn by(turns: u32) -> RecentQuery {
    RecentQuery {
        limit: limit(turns),
        ..RecentQuery::default()
    }
}

/// Stores 500 turns scattered over three moments and gives their ids, newest first.
async fn scattered(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: UserId,
    moments: [Timestamp; 3],
) -> Vec<(Timestamp, TurnId)> {
    let moment = |n: usize| moments[n * 7 % 3];
    let turns = (0..500)
        .map(|n| turn(user, &format!("k{n}")).at(moment(n)).build())
        .collect();
    let stored = store(subject, tenant, turns).await;
    let mut places: Vec<_> = stored
        .iter()
        .enumerate()
        .map(|(n, appended)| (moment(n), appended.seq, appended.turn_id))
        .collect();
    places.sort_unstable_by(|a, b| b.cmp(a));
    places.into_iter().map(|(at, _, id)| (at, id)).collect()
}

/// failures.md 6: 500 turns on three moments in pages of seven, with new turns on the same moments
/// between any two pages: every turn that was there at the start is read once, in order.
pub async fn pages_hold_each_turn_once_while_others_write(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let moments = [0, 1, 2].map(|minutes| now(subject).minus(Duration::from_mins(minutes)));
    let expected = scattered(subject, &acme, mina, moments).await;
    let expected: Vec<TurnId> = expected.into_iter().map(|(_, id)| id).collect();
    let there_at_the_start: HashSet<TurnId> = expected.iter().copied().collect();
    let mut query = by(7);
    let (mut read, mut pages) = (Vec::new(), 0);
    loop {
        let page = page(subject, &acme, mina, &query).await;
        read.extend(ids(&page.turns));
        if !go_on(&mut query, page.next) {
            break;
        }
        pages += 1;
        let between = moments.map(|at| turn(mina, &format!("{pages} {at}")).at(at).build());
        store(subject, &acme, between.to_vec()).await;
    }
    assert!(pages >= 71, "only {pages} pages");
    let once: HashSet<TurnId> = read.iter().copied().collect();
    assert_eq!(once.len(), read.len(), "a turn was read twice");
    read.retain(|id| there_at_the_start.contains(id));
    assert_eq!(read, expected);
}

/// failures.md 6: turns that end while somebody pages are skipped; the others are read once.
pub async fn pages_hold_each_survivor_once_while_turns_end(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    let now = now(subject);
    let ending = now.minus(Duration::from_hours(23));
    let moments = [now, now.minus(Duration::from_hours(1)), ending];
    let expected = scattered(subject, &acme, mina, moments).await;
    let mut query = by(7);
    let mut read = Vec::new();
    for number in 0.. {
        if number == 20 {
            subject.clock().advance(Duration::from_hours(1));
        }
        let page = page(subject, &acme, mina, &query).await;
        read.extend(ids(&page.turns));
        if !go_on(&mut query, page.next) {
            break;
        }
    }
    let survivors: Vec<TurnId> = expected
        .into_iter()
        .filter(|(at, _)| *at != ending)
        .map(|(_, id)| id)
        .collect();
    assert_eq!(read, survivors);
}

/// A page says where the next one starts exactly when there is one.
pub async fn the_last_page_says_so(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = (0..14)
        .map(|n| turn(mina, &n.to_string()).build())
        .collect();
    let stored = store(subject, &acme, turns).await;
    let at = now(subject);
    let place = |n: usize| Position {
        created_at: at,
        seq: stored[n].seq,
    };
    for (size, before, next) in [
        (20, None, None),
        (14, None, None),
        (13, None, Some(place(1))),
        (7, None, Some(place(7))),
        (7, Some(place(7)), None),
        (6, Some(place(7)), Some(place(1))),
        (7, Some(place(0)), None),
    ] {
        let query = RecentQuery { before, ..by(size) };
        assert_eq!(
            page(subject, &acme, mina, &query).await.next,
            next,
            "{size} {before:?}"
        );
    }
}

/// Older turns that the query leaves out, or that have ended, are no next page.
pub async fn turns_left_out_make_no_next_page(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    let now = now(subject);
    let ending = now.minus(DAY).plus(MICROSECOND);
    let mut turns = vec![
        turn(mina, "ended").at(ending).build(),
        turn(mina, "teams")
            .on("teams-aad", "T1")
            .at(now.minus(MICROSECOND))
            .build(),
        turn(mina, "canvas")
            .canvas("cv-7")
            .at(now.minus(MICROSECOND))
            .build(),
    ];
    turns.extend((0..3).map(|n| turn(mina, &n.to_string()).at(now).build()));
    store(subject, &acme, turns).await;
    subject.clock().advance(MICROSECOND);
    let since = RecentQuery {
        since: Some(now),
        ..by(3)
    };
    let filtered = RecentQuery {
        channel_kinds: vec![kind("slack-user")],
        exclude_canvas: Some(CanvasSessionId::parse("cv-7").expect("a plain id")),
        ..by(3)
    };
    for query in [since, filtered] {
        let page = page(subject, &acme, mina, &query).await;
        assert_eq!((page.turns.len(), page.next), (3, None), "{query:?}");
    }
    assert!(page(subject, &acme, mina, &by(3)).await.next.is_some());
    assert_eq!(page(subject, &acme, mina, &by(5)).await.next, None);
}

/// A page goes on with the bounds of the query, and from a place that no turn has.
pub async fn a_page_goes_on_from_any_place_within_its_bounds(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let base = now(subject);
    let at = |micros: u32| base.plus(MICROSECOND * micros);
    let turns = (0..6)
        .map(|n| {
            turn(mina, &n.to_string())
                .saying(&n.to_string())
                .at(at(n))
                .build()
        })
        .collect();
    store(subject, &acme, turns).await;
    let place = |micros, seq| {
        Some(Position {
            created_at: at(micros),
            seq,
        })
    };
    // Postgres counts in signed numbers.
    let beyond = i64::MAX.unsigned_abs();
    for (before, expected) in [
        (place(4, 0), "3 2"),
        (place(4, beyond), "4 3 2"),
        (place(99, 0), "4 3 2"),
        (place(2, 0), ""),
        (place(0, 0), ""),
    ] {
        let query = RecentQuery {
            since: Some(at(2)),
            until: Some(at(5)),
            before,
            ..RecentQuery::default()
        };
        let page = page(subject, &acme, mina, &query).await;
        let read = super::sample::said(&page.turns).join(" ");
        assert_eq!(read, expected, "{before:?}");
    }
}
