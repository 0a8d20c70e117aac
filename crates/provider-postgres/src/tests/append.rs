//! Append under contention, and rows that the database refuses.

use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ConversationMemory as _, NewTurn, RejectReason,
};
use throughline_domain::{TenantId, UserId};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::scratch::{Scratch, prepared};
use crate::memory::Row;

fn rejected(
    answer: &Result<throughline_conversation_memory::Appended, AppendError>,
) -> Option<&RejectReason> {
    match answer {
        Err(AppendError::Rejected { reason, .. }) => Some(reason),
        _ => None,
    }
}

/// One round: a batch over these keys, for these users in turn, in this order.
fn batch(users: &[UserId], round: usize, reversed: bool) -> Vec<NewTurn> {
    let mut turns: Vec<NewTurn> = (0..8)
        .map(|number| turn(users[number % users.len()], &format!("k{round} {number}")).build())
        .collect();
    if reversed {
        turns.reverse();
    }
    turns
}

/// Writers with the same keys and users in opposite order, let go together a thousand times, never
/// deadlock: an abort would show in the database's own count, which no retry of ours hides.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_with_crossing_keys_and_users_never_deadlock() {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 250;
    let scratch = Arc::new(prepared().await);
    let acme = scratch.acme().await;
    let mut users = Vec::new();
    for _ in 0..4 {
        users.push(scratch.user(&acme).await);
    }
    let tasks = TaskTracker::new();
    let together = Arc::new(Barrier::new(WRITERS));
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let (scratch, acme, users) = (scratch.clone(), acme.clone(), users.clone());
        let together = together.clone();
        writers.push(tasks.spawn(async move {
            for round in 0..ROUNDS {
                let turns = batch(&users, round, writer % 2 == 1);
                together.wait().await;
                for answer in scratch.store.append_batch(&acme, turns).await {
                    answer.expect("stored or found");
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let sql = "select deadlocks from pg_stat_database where datname = current_database();";
    assert_eq!(scratch.database.psql(sql).unwrap(), "0");
    let stored = "select count(*) from cross_channel_messages;";
    let stored = scratch.database.psql(stored).unwrap();
    assert_eq!(stored, (ROUNDS * 8).to_string());
    let mut counted = 0;
    for user in users {
        counted += scratch.store.usage(&acme, user).await.unwrap().turn_count;
    }
    assert_eq!(counted.to_string(), stored);
}

/// The same across tenants in one transaction, as a writer in front of it will send them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_transaction_serves_rows_of_several_tenants() {
    let scratch = prepared().await;
    let mut people: Vec<(TenantId, UserId)> = Vec::new();
    for name in ["acme", "acme-corp", "acme_corp"] {
        let tenant =
            throughline_conversation_memory::contract::Subject::tenant(&scratch, name, 90).await;
        let user = scratch.user(&tenant).await;
        people.push((tenant, user));
    }
    let stranger = TenantId::parse("nobody").unwrap();
    let turns: Vec<NewTurn> = people
        .iter()
        .map(|(_, user)| turn(*user, "k").build())
        .collect();
    let mut rows: Vec<Row<'_>> = people
        .iter()
        .zip(&turns)
        .map(|((tenant, _), turn)| Row { tenant, turn })
        .collect();
    rows.push(Row {
        tenant: &stranger,
        turn: &turns[0],
    });
    // Another tenant's user is nobody here.
    rows.push(Row {
        tenant: &people[0].0,
        turn: &turns[1],
    });
    let answers = crate::memory::append_rows(&scratch.store.appender, &rows).await;
    for (answer, (tenant, user)) in answers.iter().zip(&people) {
        let appended = answer.as_ref().unwrap();
        assert_eq!(
            (appended.outcome, appended.user_id, appended.seq),
            (AppendOutcome::Stored, *user, 1)
        );
        assert_eq!(
            scratch.store.usage(tenant, *user).await.unwrap().turn_count,
            1
        );
    }
    assert_eq!(
        rejected(&answers[3]),
        Some(&RejectReason::UnknownTenant(stranger.clone()))
    );
    assert_eq!(rejected(&answers[4]), Some(&RejectReason::UnknownUser));
}

/// A row that only the database refuses costs only itself, wherever it stands in the batch.
#[tokio::test]
async fn a_poison_row_costs_only_itself() {
    let scratch = prepared().await;
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let poison = "alter table cross_channel_messages add check (user_message <> 'poison');";
    scratch.database.psql(poison).unwrap();
    for (round, bad) in [vec![0], vec![6], vec![0, 3, 6], (0..7).collect()]
        .into_iter()
        .enumerate()
    {
        let turns = (0..7).map(|number| {
            let text = if bad.contains(&number) {
                "poison"
            } else {
                "hello"
            };
            turn(mina, &format!("{round} {number}"))
                .saying(text)
                .build()
        });
        let answers = scratch.store.append_batch(&acme, turns.collect()).await;
        let mut last = 0;
        for (number, answer) in answers.iter().enumerate() {
            if bad.contains(&number) {
                assert_eq!(rejected(answer), Some(&RejectReason::Unstorable));
            } else {
                let seq = answer.as_ref().unwrap().seq;
                assert!(seq > last, "the order was lost");
                last = seq;
            }
        }
    }
    let usage = scratch.store.usage(&acme, mina).await.unwrap();
    assert_eq!((usage.turn_count, usage.byte_count), (6 + 6 + 4, 5 * 16));
}

/// failures.md 33: the server's DETAIL quotes the row; no error of ours does.
#[tokio::test]
async fn no_error_quotes_what_was_said() {
    let scratch = prepared().await;
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    let session = scratch.store.sessions.session().await.unwrap();
    let sentinel = "sentinel 4179";
    let turn = turn(mina, "k").saying(sentinel).build();
    scratch
        .database
        .psql("alter table users add check (turn_count = 0);")
        .unwrap();
    let rows = [Row {
        tenant: &acme,
        turn: &turn,
    }];
    let refused = crate::memory::append_in(&session, &rows, &scratch.store.appender).await;
    let error = refused.expect_err("refused");
    let chain = format!(
        "{error:?} {error} {:?}",
        std::error::Error::source(&error).map(ToString::to_string)
    );
    assert!(chain.contains("23514"), "{chain}");
    assert!(
        !chain.contains(sentinel) && !chain.contains(&mina.to_string()),
        "{chain}"
    );
}

/// A caller that goes away in the middle leaves neither an open transaction nor a connection with
/// somebody else's answer on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_leaves_a_usable_pool() {
    let scratch = Scratch::configured(|config| config.pool_size = 2).await;
    let acme = scratch.acme().await;
    let mina = scratch.user(&acme).await;
    for number in 0..200 {
        let wait = Duration::from_micros(number * 20);
        let turn = turn(mina, &format!("k{number}")).build();
        let _ = tokio::time::timeout(wait, scratch.store.append(&acme, turn)).await;
    }
    for number in 0..200 {
        let turn = turn(mina, &format!("k{number}")).build();
        scratch.store.append(&acme, turn).await.unwrap();
    }
    let usage = scratch.store.usage(&acme, mina).await.unwrap();
    assert_eq!(usage.turn_count, 200);
    let open = "select count(*) from pg_stat_activity \
                where datname = current_database() and state = 'idle in transaction';";
    assert_eq!(scratch.database.psql(open).unwrap(), "0");
}
