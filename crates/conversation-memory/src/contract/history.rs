//! Cases of `history`.

use std::time::Duration;

use super::sample::{acme_and_mina, ids, limit, now, said, scope, store, told};
use super::{Subject, turn};

/// oldest first by the time they were said, whoever said them.
pub async fn history_runs_from_old_to_new_over_everybody(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    let at = |seconds| now(subject).minus(Duration::from_secs(seconds));
    let turns = [
        (mina, "2", 20),
        (noor, "4", 5),
        (noor, "1", 30),
        (mina, "3", 20),
    ]
    .map(|(user, text, ago)| turn(user, text).saying(text).at(at(ago)).build());
    store(subject, &acme, turns.to_vec()).await;
    let turns = told(subject, &acme, &scope("slack-user", "C1")).await;
    assert_eq!(said(&turns), ["1", "2", "3", "4"]);
    let users: Vec<_> = turns.iter().map(|turn| turn.user_id).collect();
    assert_eq!(users, [noor, mina, mina, noor]);
}

/// A limit keeps the latest turns and still gives them oldest first.
pub async fn history_keeps_the_latest_turns(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let turns = (0..120)
        .map(|n| {
            turn(mina, &format!("k{}", n * 7919 % 127))
                .saying(&n.to_string())
                .build()
        })
        .collect();
    let stored = store(subject, &acme, turns).await;
    for asked in [1, 7, 100, 101] {
        let turns = subject
            .memory()
            .history(&acme, &scope("slack-user", "C1"), limit(asked))
            .await
            .expect("reads");
        let kept = usize::try_from(asked.min(100)).expect("a small number");
        let expected: Vec<_> = stored[120 - kept..].iter().map(|a| a.turn_id).collect();
        assert_eq!(ids(&turns), expected, "{asked}");
    }
}

/// T-21, failures.md 10: kind and id are two parts of one key.
pub async fn scopes_that_look_alike_are_different_scopes(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let scopes = [
        ("telegram-chat", "42"),
        ("slack-user", "42"),
        ("slack", "42"),
        ("slack-user", "4"),
        ("slack-user", "42 "),
        ("slack-user", "c1"),
        ("slack-user", "C1"),
        ("slack-user", "C_"),
        ("slack-user", "C%"),
        ("a.b", "c"),
        ("a", "b:c"),
        ("a", "b.c"),
    ];
    let turns = scopes
        .iter()
        .enumerate()
        .map(|(n, (kind, id))| {
            turn(mina, &n.to_string())
                .on(kind, id)
                .saying(&n.to_string())
                .build()
        })
        .collect();
    store(subject, &acme, turns).await;
    for (n, (kind, id)) in scopes.iter().enumerate() {
        let turns = told(subject, &acme, &scope(kind, id)).await;
        assert_eq!(said(&turns), [n.to_string()], "{kind} {id:?}");
    }
}

/// A scope where nothing was said is empty, and no error.
pub async fn an_unseen_scope_reads_as_empty(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store(subject, &acme, vec![turn(mina, "k1").build()]).await;
    assert_eq!(told(subject, &acme, &scope("slack-user", "C2")).await, []);
}
