//! Cases of `recent`: order, bounds and filters.

use std::time::Duration;

use throughline_domain::{TenantId, Timestamp, UserId};

use super::sample::{
    MICROSECOND, acme_and_mina, all, ids, kind, latest, limit, nobody, now, page, said, store,
};
use super::{Subject, turn};
use crate::{CanvasSessionId, RecentQuery};

/// Newest first, across channels, by the time they were said, then by commit order.
pub async fn recent_turns_come_newest_first_across_channels(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let at = |seconds| now(subject).minus(Duration::from_secs(seconds));
    let turns = [
        ("telegram-chat", "2", 20),
        ("slack-user", "4", 10),
        ("teams-aad", "1", 30),
        ("slack-user", "3", 20),
        ("telegram-chat", "5", 0),
    ]
    .map(|(kind, text, ago)| {
        turn(mina, text)
            .on(kind, text)
            .saying(text)
            .at(at(ago))
            .build()
    });
    store(subject, &acme, turns.to_vec()).await;
    let turns = latest(subject, &acme, mina).await;
    assert_eq!(said(&turns), ["5", "4", "3", "2", "1"]);
}

/// failures.md 5: equal times never shuffle a transcript.
pub async fn a_thousand_turns_of_one_moment_stay_in_append_order(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let moment = now(subject);
    let turns = (0..1000)
        .map(|n| {
            turn(mina, &format!("k{}", n * 7919 % 1009))
                .at(moment)
                .build()
        })
        .collect();
    let stored = store(subject, &acme, turns).await;
    let newest_first: Vec<_> = stored
        .iter()
        .rev()
        .map(|appended| appended.turn_id)
        .collect();
    for _ in 0..2 {
        assert_eq!(ids(&all(subject, &acme, mina).await), newest_first);
    }
}

async fn texts(
    subject: &dyn Subject,
    tenant: &TenantId,
    user: UserId,
    query: &RecentQuery,
) -> String {
    let page = page(subject, tenant, user, query).await;
    said(&page.turns).join(" ")
}

/// from `since` on, that moment included, up to `until`, that moment left out.
pub async fn since_is_inclusive_and_until_exclusive(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let base = now(subject);
    let at = |micros: u32| base.plus(MICROSECOND * micros);
    let turns = [0, 1, 1, 2]
        .into_iter()
        .zip(["a", "b", "c", "d"])
        .map(|(micros, text)| turn(mina, text).saying(text).at(at(micros)).build());
    store(subject, &acme, turns.collect()).await;
    let ends = (
        Timestamp::from_micros(i64::MIN),
        Timestamp::from_micros(i64::MAX),
    );
    for (since, until, expected) in [
        (None, None, "d c b a"),
        (Some(at(1)), None, "d c b"),
        (Some(at(2)), None, "d"),
        (Some(at(3)), None, ""),
        (None, Some(at(2)), "c b a"),
        (None, Some(at(1)), "a"),
        (None, Some(at(0)), ""),
        (Some(at(1)), Some(at(2)), "c b"),
        (Some(at(1)), Some(at(1)), ""),
        (Some(at(2)), Some(at(1)), ""),
        (Some(ends.0), Some(ends.1), "d c b a"),
        (Some(ends.1), Some(ends.0), ""),
    ] {
        let query = RecentQuery {
            since,
            until,
            ..RecentQuery::default()
        };
        let read = texts(subject, &acme, mina, &query).await;
        assert_eq!(read, expected, "since {since:?} until {until:?}");
    }
}

/// T-20, R-083: leaving out one canvas keeps the turns of others and those without any.
pub async fn leaving_out_a_canvas_keeps_turns_without_one(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = vec![
        turn(mina, "a").saying("none").build(),
        turn(mina, "b").saying("seven").canvas("cv-7").build(),
        turn(mina, "c").saying("eight").canvas("cv-8").build(),
        turn(mina, "d").saying("shout").canvas("CV-7").build(),
    ];
    store(subject, &acme, turns).await;
    for (canvas, expected) in [
        ("cv-7", "shout eight none"),
        ("cv-8", "shout seven none"),
        ("cv-9", "shout eight seven none"),
    ] {
        let query = RecentQuery {
            exclude_canvas: Some(CanvasSessionId::parse(canvas).expect("a plain id")),
            ..RecentQuery::default()
        };
        assert_eq!(texts(subject, &acme, mina, &query).await, expected);
    }
}

/// R-084, failures.md 11: only the kinds asked for; an empty list asks for all.
pub async fn channel_kinds_narrow_and_an_empty_list_does_not(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = ["slack-user", "slack", "telegram-chat"]
        .map(|word| turn(mina, word).on(word, "C1").saying(word).build());
    store(subject, &acme, turns.to_vec()).await;
    for (kinds, expected) in [
        (vec![], "telegram-chat slack slack-user"),
        (vec!["slack"], "slack"),
        (vec!["slack-user", "slack-user"], "slack-user"),
        (
            vec!["slack-user", "telegram-chat"],
            "telegram-chat slack-user",
        ),
        (vec!["teams-aad"], ""),
        (vec!["slack.user"], ""),
    ] {
        let query = RecentQuery {
            channel_kinds: kinds.iter().map(|word| kind(word)).collect(),
            ..RecentQuery::default()
        };
        assert_eq!(
            texts(subject, &acme, mina, &query).await,
            expected,
            "{kinds:?}"
        );
    }
}

/// T-07: a limit counts what is given out; what a filter leaves out never shortens a page.
pub async fn filters_come_before_the_limit(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let mut turns = Vec::new();
    for number in 0..60 {
        let text = number.to_string();
        let built = turn(mina, &text).saying(&text);
        turns.push(match number % 3 {
            0 => built.build(),
            1 => built.canvas("cv-7").build(),
            _ => built.on("teams-aad", "T1").build(),
        });
    }
    store(subject, &acme, turns).await;
    let query = RecentQuery {
        limit: limit(4),
        exclude_canvas: Some(CanvasSessionId::parse("cv-7").expect("a plain id")),
        channel_kinds: vec![kind("slack-user")],
        ..RecentQuery::default()
    };
    assert_eq!(texts(subject, &acme, mina, &query).await, "57 54 51 48");
}

/// as many as asked for, 20 unless asked, never more than there are.
pub async fn a_page_holds_at_most_its_limit(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = (0..120)
        .map(|n| turn(mina, &n.to_string()).build())
        .collect();
    store(subject, &acme, turns).await;
    for (asked, expected) in [(1, 1), (7, 7), (100, 100), (101, 100), (u32::MAX, 100)] {
        let query = RecentQuery {
            limit: limit(asked),
            ..RecentQuery::default()
        };
        assert_eq!(
            page(subject, &acme, mina, &query).await.turns.len(),
            expected
        );
    }
    let unasked = page(subject, &acme, mina, &RecentQuery::default()).await;
    assert_eq!(unasked.turns.len(), 20);
}

/// nobody's turns are an empty page, and no error.
pub async fn an_unknown_user_reads_as_empty(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    for user in [mina, nobody()] {
        let read = page(subject, &acme, user, &RecentQuery::default()).await;
        assert_eq!(read.turns, []);
        assert_eq!((read.next, read.pending_excluded), (None, 0));
    }
}

/// failures.md 9: people who share a scope do not share their recent turns.
pub async fn people_in_one_scope_have_their_own_recent_turns(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    let turns = vec![
        turn(mina, "a").saying("mina").build(),
        turn(noor, "b").saying("noor").build(),
    ];
    store(subject, &acme, turns).await;
    assert_eq!(said(&latest(subject, &acme, mina).await), ["mina"]);
    assert_eq!(said(&latest(subject, &acme, noor).await), ["noor"]);
}
