//! Cases of `append_batch`.

use super::sample::{
    DAY, acme_and_mina, all, latest, nobody, now, refusal, said, store, store_one, usage,
};
use super::together::together;
use super::{Subject, turn};
use crate::{AppendOutcome, NewTurn, RejectReason};
use throughline_domain::{TenantId, UserId};

/// Nothing in, nothing out.
pub async fn an_empty_batch_has_no_answers(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let answers = subject.memory().append_batch(&acme, Vec::new()).await;
    assert!(answers.is_empty());
    assert_eq!(usage(subject, &acme, mina).await.turn_count, 0);
}

/// One answer a turn, in the order given, with ascending `seq`, whoever said them and wherever.
pub async fn a_batch_answers_in_its_order(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    let mut turns = Vec::new();
    for number in 0..500_u32 {
        let user = if number % 3 == 0 { noor } else { mina };
        // Keys and scopes in an order of their own, so that no index order passes for the given one.
        let key = format!("k{}", number.wrapping_mul(2_654_435_761) % 100_003);
        let scope = format!("C{}", number % 7);
        let built = turn(user, &key)
            .on("slack-user", &scope)
            .saying(&number.to_string());
        turns.push(built.build());
    }
    let users: Vec<UserId> = turns.iter().map(NewTurn::user).collect();
    let stored = store(subject, &acme, turns).await;
    assert!(
        stored.is_sorted_by(|a, b| a.seq < b.seq),
        "seq does not ascend"
    );
    assert_eq!(stored.iter().map(|a| a.user_id).collect::<Vec<_>>(), users);
    for user in [mina, noor] {
        let expected: Vec<String> = (0..500_u32)
            .rev()
            .filter(|number| (number % 3 == 0) == (user == noor))
            .map(|number| number.to_string())
            .collect();
        let turns = all(subject, &acme, user).await;
        assert_eq!(said(&turns), expected);
        for read in &turns {
            let place: usize = read.user_message.parse().expect("a number");
            assert_eq!(
                (read.id, read.seq),
                (stored[place].turn_id, stored[place].seq)
            );
        }
    }
}

/// One refused turn costs only itself.
pub async fn refused_turns_cost_only_themselves(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 1).await;
    let mina = subject.user(&acme).await;
    let known = store_one(subject, &acme, turn(mina, "old").build()).await;
    let batch = vec![
        turn(mina, "a").saying("1").build(),
        turn(nobody(), "b").saying("2").build(),
        turn(mina, "old").saying("3").build(),
        turn(mina, "c")
            .saying("4")
            .at(now(subject).minus(2 * DAY))
            .build(),
        turn(mina, "old").build(),
        turn(mina, "d").saying("5").build(),
    ];
    let keys: Vec<_> = batch.iter().map(|turn| turn.key().clone()).collect();
    let mut answers = subject.memory().append_batch(&acme, batch).await;
    assert_eq!(answers.len(), 6);
    let last = answers.remove(5).expect("a good turn");
    let duplicate = answers.remove(4).expect("a retry");
    let refusals: Vec<_> = answers.drain(1..).map(refusal).collect();
    let first = answers.remove(0).expect("a good turn");
    assert_eq!(
        refusals,
        [
            (keys[1].clone(), RejectReason::UnknownUser),
            (keys[2].clone(), RejectReason::IdempotencyMismatch),
            (keys[3].clone(), RejectReason::Expired),
        ]
    );
    assert_eq!(
        (duplicate.outcome, duplicate.turn_id),
        (AppendOutcome::Duplicate, known.turn_id)
    );
    assert!(known.seq < first.seq && first.seq < last.seq);
    let turns = latest(subject, &acme, mina).await;
    assert_eq!(said(&turns), ["5", "1", "hello"]);
    assert_eq!(usage(subject, &acme, mina).await.turn_count, 3);
}

/// failures.md 1, 2: a key twice in one batch is stored once; with other words it is refused.
pub async fn a_key_twice_in_one_batch_is_stored_once(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let noor = subject.user(&acme).await;
    let batch = vec![
        turn(mina, "a").build(),
        turn(mina, "a").build(),
        turn(mina, "a").saying("other").build(),
        turn(noor, "a").build(),
        turn(noor, "b").build(),
        turn(mina, "a").build(),
    ];
    let mut answers = subject
        .memory()
        .append_batch(&acme, batch)
        .await
        .into_iter();
    let mut next = || answers.next().expect("one answer a turn");
    let first = next().expect("a good turn");
    assert_eq!(first.outcome, AppendOutcome::Stored);
    let second = next().expect("a retry");
    assert_eq!(
        (second.outcome, second.turn_id),
        (AppendOutcome::Duplicate, first.turn_id)
    );
    assert_eq!(refusal(next()).1, RejectReason::IdempotencyMismatch);
    assert_eq!(refusal(next()).1, RejectReason::IdempotencyMismatch);
    assert_eq!(next().expect("a good turn").outcome, AppendOutcome::Stored);
    let last = next().expect("a retry");
    assert_eq!(
        (last.outcome, last.turn_id),
        (AppendOutcome::Duplicate, first.turn_id)
    );
    let counted = usage(subject, &acme, mina).await;
    assert_eq!((counted.turn_count, counted.byte_count), (1, 5));
}

/// A batch sent again is all duplicates and changes nothing.
pub async fn a_batch_sent_again_stores_nothing(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let batch: Vec<_> = (0..50)
        .map(|n| turn(mina, &format!("k{n}")).build())
        .collect();
    let first = store(subject, &acme, batch.clone()).await;
    let before = (
        latest(subject, &acme, mina).await,
        usage(subject, &acme, mina).await,
    );
    let again = subject.memory().append_batch(&acme, batch).await;
    for (first, again) in first.iter().zip(again) {
        let again = again.expect("found");
        assert_eq!(again.outcome, AppendOutcome::Duplicate);
        assert_eq!((again.turn_id, again.seq), (first.turn_id, first.seq));
    }
    let after = (
        latest(subject, &acme, mina).await,
        usage(subject, &acme, mina).await,
    );
    assert_eq!(after, before);
}

fn shuffled(users: &[UserId], tenant: &TenantId, task: usize) -> (TenantId, Vec<NewTurn>) {
    let mut turns: Vec<_> = (0..60)
        .map(|n| turn(users[n % users.len()], &format!("k{n}")).build())
        .collect();
    turns.rotate_left(task * 7);
    if task % 2 == 1 {
        turns.reverse();
    }
    (tenant.clone(), turns)
}

/// failures.md 3: batches that share keys and users in opposite orders neither block one another for
/// ever nor store anything twice.
pub async fn batches_that_share_keys_in_any_order_all_succeed(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let users = [mina, subject.user(&acme).await, subject.user(&acme).await];
    let calls = (0..8)
        .map(|task| {
            let memory = subject.memory();
            let (tenant, turns) = shuffled(&users, &acme, task);
            async move { memory.append_batch(&tenant, turns).await }
        })
        .collect();
    let mut stored = 0;
    for answer in together(calls).await.into_iter().flatten() {
        let appended = answer.expect("stored or found");
        stored += usize::from(appended.outcome == AppendOutcome::Stored);
    }
    assert_eq!(stored, 60);
    for user in users {
        assert_eq!(latest(subject, &acme, user).await.len(), 20);
        assert_eq!(usage(subject, &acme, user).await.turn_count, 20);
    }
}
