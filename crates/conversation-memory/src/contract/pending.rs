//! Cases of turns that nobody has scanned yet.

use super::sample::{acme_and_mina, kind, latest, limit, page, said, scope, store, told};
use super::{Subject, turn};
use crate::{CanvasSessionId, RecentQuery};

/// a default reader never sees what was not scanned, and is told that there is something.
pub async fn a_pending_turn_is_left_out_and_counted(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = vec![
        turn(mina, "1").saying("scanned").build(),
        turn(mina, "2").saying("not scanned").pending(),
    ];
    store(subject, &acme, turns).await;
    assert_eq!(said(&latest(subject, &acme, mina).await), ["scanned"]);
    let read = page(subject, &acme, mina, &RecentQuery::default()).await;
    assert_eq!((read.turns.len(), read.pending_excluded), (1, 1));
    assert_eq!(
        said(&told(subject, &acme, &scope("slack-user", "C1")).await),
        ["scanned"]
    );
}

/// T-07: pending turns take no place on a page, and filters apply to the count as to the turns.
pub async fn pending_turns_never_shorten_a_page(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let mut turns = Vec::new();
    for n in 0..5 {
        turns.push(turn(mina, &format!("c{n}")).saying(&n.to_string()).build());
        turns.push(turn(mina, &format!("p{n}")).canvas("cv").pending());
        turns.push(turn(mina, &format!("q{n}")).on("teams-aad", "T").pending());
    }
    store(subject, &acme, turns).await;
    let query = RecentQuery {
        limit: limit(4),
        ..RecentQuery::default()
    };
    let read = page(subject, &acme, mina, &query).await;
    assert_eq!(said(&read.turns), ["4", "3", "2", "1"]);
    assert_eq!(read.pending_excluded, 4, "counted up to the limit");

    let wide = RecentQuery {
        limit: limit(100),
        ..RecentQuery::default()
    };
    assert_eq!(page(subject, &acme, mina, &wide).await.pending_excluded, 10);
    let slack = RecentQuery {
        channel_kinds: vec![kind("slack-user")],
        ..wide.clone()
    };
    assert_eq!(page(subject, &acme, mina, &slack).await.pending_excluded, 5);
    let canvas = CanvasSessionId::parse("cv").expect("a plain id");
    let elsewhere = RecentQuery {
        exclude_canvas: Some(canvas),
        ..wide.clone()
    };
    assert_eq!(
        page(subject, &acme, mina, &elsewhere)
            .await
            .pending_excluded,
        5
    );
}

/// The count never tells of another user's or tenant's turns.
pub async fn pending_turns_of_others_are_not_counted(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    let other = subject.tenant("acme-corp", 90).await;
    let stranger = subject.user(&other).await;
    store(subject, &acme, vec![turn(noor, "1").pending()]).await;
    store(subject, &other, vec![turn(stranger, "1").pending()]).await;
    assert_eq!(
        page(subject, &acme, mina, &RecentQuery::default())
            .await
            .pending_excluded,
        0
    );
    assert_eq!(
        page(subject, &acme, noor, &RecentQuery::default())
            .await
            .pending_excluded,
        1
    );
}
