//! The group-commit writer: every caller gets its own answer, whatever happens around it.

use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    AppendError, AppendOutcome, Appended, ConversationMemory as _, RejectReason,
};
use throughline_domain::{TenantId, UserId};
use tokio_util::task::TaskTracker;

use super::scratch::{Scratch, prepared};
use crate::{PostgresConfig, WriteStrategy, WriterOptions};

fn grouped(change: impl Fn(&mut WriterOptions)) -> impl Fn(&mut PostgresConfig) {
    move |config| {
        let mut options = WriterOptions::default();
        change(&mut options);
        config.write_strategy = WriteStrategy::Group(options);
    }
}

/// Holds every append back until it is dropped.
struct Blocked(tokio_postgres::Client);

impl Blocked {
    async fn appends_of(url: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
            .await
            .unwrap();
        TaskTracker::new().spawn(connection);
        let lock = "begin; lock table tenant_streams in access exclusive mode;";
        client.batch_execute(lock).await.unwrap();
        Self(client)
    }

    async fn release(self) {
        self.0.batch_execute("rollback").await.unwrap();
    }
}

pub(super) async fn people(scratch: &Scratch, tenants: usize) -> Vec<(TenantId, UserId)> {
    let mut people = Vec::new();
    for number in 0..tenants {
        let tenant = scratch.tenant(&format!("t{number}"), 90).await;
        let user = scratch.user(&tenant).await;
        people.push((tenant, user));
    }
    people
}

async fn queued(scratch: &Scratch, turns: usize) {
    let store = &scratch.store;
    let waiting = || {
        store
            .writer
            .as_ref()
            .map_or(0, crate::writer::Writer::queued)
    };
    while waiting() != turns {
        tokio::task::yield_now().await;
    }
}

/// What waits together is committed together: far fewer transactions than turns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_that_wait_together_share_a_transaction() {
    let scratch = Arc::new(Scratch::configured(grouped(|options| options.writers = 1)).await);
    let people = people(&scratch, 8).await;
    let blocked = Blocked::appends_of(scratch.database.url()).await;
    let tasks = TaskTracker::new();
    let first = spawn_append(&tasks, &scratch, &people[0], "first");
    // The writer is busy with the first one; the others queue behind it.
    while blocked_backends(&scratch) == 0 {}
    let callers: Vec<_> = (0..64)
        .map(|n| spawn_append(&tasks, &scratch, &people[n % 8], &format!("k{n}")))
        .collect();
    queued(&scratch, 64).await;
    blocked.release().await;
    assert_eq!(first.await.unwrap().unwrap().outcome, AppendOutcome::Stored);
    for caller in callers {
        assert_eq!(
            caller.await.unwrap().unwrap().outcome,
            AppendOutcome::Stored
        );
    }
    let transactions = "select count(distinct xmin::text) from cross_channel_messages;";
    assert_eq!(scratch.database.psql(transactions).unwrap(), "2");
}

fn blocked_backends(scratch: &Scratch) -> usize {
    let sql = "select count(*) from pg_stat_activity where datname = current_database() \
               and wait_event_type = 'Lock';";
    scratch.database.psql(sql).unwrap().parse().unwrap()
}

fn spawn_append(
    tasks: &TaskTracker,
    scratch: &Arc<Scratch>,
    (tenant, user): &(TenantId, UserId),
    key: &str,
) -> tokio::task::JoinHandle<Result<Appended, AppendError>> {
    let (scratch, tenant) = (scratch.clone(), tenant.clone());
    let turn = turn(*user, key).build();
    tasks.spawn(async move { scratch.store.append(&tenant, turn).await })
}

/// A caller that goes away while its turn waits takes the turn back; its neighbours stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_leaves_the_queue_takes_its_turn_with_it() {
    let scratch = Arc::new(Scratch::configured(grouped(|options| options.writers = 1)).await);
    let people = people(&scratch, 2).await;
    let blocked = Blocked::appends_of(scratch.database.url()).await;
    let tasks = TaskTracker::new();
    let first = spawn_append(&tasks, &scratch, &people[0], "first");
    while blocked_backends(&scratch) == 0 {}
    let gone = spawn_append(&tasks, &scratch, &people[0], "gone");
    let stays = spawn_append(&tasks, &scratch, &people[1], "stays");
    queued(&scratch, 2).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    // The one whose transaction is on its way is stored although nobody waits for it.
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    blocked.release().await;
    stays.await.unwrap().unwrap();
    let keys = "select string_agg(client_message_id, ' ' order by client_message_id) \
                from cross_channel_messages;";
    assert_eq!(scratch.database.psql(keys).unwrap(), "first stays");
}

/// A turn no writer came to in time is answered as not stored, and is not stored later either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_waits_too_long_is_answered_and_never_stored() {
    let scratch = Scratch::configured(|config| {
        grouped(|options| options.writers = 1)(config);
        config.pool_wait = Duration::from_millis(100);
    })
    .await;
    let scratch = Arc::new(scratch);
    let people = people(&scratch, 1).await;
    let blocked = Blocked::appends_of(scratch.database.url()).await;
    let tasks = TaskTracker::new();
    let first = spawn_append(&tasks, &scratch, &people[0], "first");
    while blocked_backends(&scratch) == 0 {}
    let late = spawn_append(&tasks, &scratch, &people[0], "late")
        .await
        .unwrap();
    assert!(
        matches!(late, Err(AppendError::Transport { .. })),
        "{late:?}"
    );
    blocked.release().await;
    first.await.unwrap().unwrap();
    let after = spawn_append(&tasks, &scratch, &people[0], "after").await;
    assert_eq!(after.unwrap().unwrap().seq, 2);
}

/// A full queue answers at once; one loud tenant leaves room for the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_and_one_tenant_cannot_fill_it() {
    let small = grouped(|options| (options.writers, options.queue_turns) = (1, 8));
    let scratch = Arc::new(Scratch::configured(small).await);
    let people = people(&scratch, 2).await;
    let blocked = Blocked::appends_of(scratch.database.url()).await;
    let tasks = TaskTracker::new();
    let first = spawn_append(&tasks, &scratch, &people[0], "first");
    while blocked_backends(&scratch) == 0 {}
    let (loud, user) = people[0].clone();
    let loud_turns = (0..6)
        .map(|n| turn(user, &format!("l{n}")).build())
        .collect();
    let store = scratch.clone();
    let loud = tasks.spawn(async move { store.store.append_batch(&loud, loud_turns).await });
    queued(&scratch, 4).await;
    let soft = spawn_append(&tasks, &scratch, &people[1], "soft");
    queued(&scratch, 5).await;
    blocked.release().await;
    first.await.unwrap().unwrap();
    soft.await.unwrap().unwrap();
    let answers = loud.await.unwrap();
    let stored: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(stored, [true, true, true, true, false, false]);
    assert!(matches!(answers[5], Err(AppendError::Transport { .. })));
    // What was refused can be sent again.
    let again = turn(user, "l5").build();
    let again = scratch.store.append(&people[0].0, again).await.unwrap();
    assert_eq!(again.outcome, AppendOutcome::Stored);
}

/// Closing writes what waits, answers everybody, and takes nothing more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_drains_the_queue_and_answers_everybody() {
    let scratch = Arc::new(prepared().await);
    let people = people(&scratch, 4).await;
    let blocked = Blocked::appends_of(scratch.database.url()).await;
    let tasks = TaskTracker::new();
    let callers: Vec<_> = (0..40)
        .map(|n| spawn_append(&tasks, &scratch, &people[n % 4], &format!("k{n}")))
        .collect();
    while blocked_backends(&scratch) == 0 {}
    let closing = scratch.clone();
    let closed = tasks.spawn(async move { closing.store.close().await });
    blocked.release().await;
    closed.await.unwrap();
    let mut stored = 0;
    for caller in callers {
        match caller.await.unwrap() {
            Ok(_) => stored += 1,
            Err(AppendError::Transport { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    let rows = scratch
        .database
        .psql("select count(*) from cross_channel_messages;")
        .unwrap();
    assert_eq!(rows, stored.to_string());
    let (tenant, user) = &people[0];
    let late = scratch
        .store
        .append(tenant, turn(*user, "late").build())
        .await;
    assert!(
        matches!(late, Err(AppendError::Transport { .. })),
        "{late:?}"
    );
}

/// A row that only the database refuses costs only itself, among rows of other tenants and callers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poison_row_of_one_caller_is_nobody_elses_error() {
    let scratch = Arc::new(Scratch::configured(grouped(|options| options.writers = 1)).await);
    let people = people(&scratch, 4).await;
    let poison =
        "alter table cross_channel_messages add check (client_message_id not like 'bad%');";
    scratch.database.psql(poison).unwrap();
    let blocked = Blocked::appends_of(scratch.database.url()).await;
    let tasks = TaskTracker::new();
    let callers: Vec<_> = (0..40)
        .map(|n| {
            let key = if n % 13 == 5 {
                format!("bad{n}")
            } else {
                format!("good{n}")
            };
            (n, spawn_append(&tasks, &scratch, &people[n % 4], &key))
        })
        .collect();
    while blocked_backends(&scratch) == 0 {}
    blocked.release().await;
    for (n, caller) in callers {
        let answer = caller.await.unwrap();
        if n % 13 == 5 {
            let refused = matches!(
                answer,
                Err(AppendError::Rejected {
                    reason: RejectReason::Unstorable,
                    ..
                })
            );
            assert!(refused, "{answer:?}");
        } else {
            assert_eq!(answer.unwrap().outcome, AppendOutcome::Stored);
        }
    }
}

/// Those who were answered together send their next turns together, and are one batch again: the first
/// of them is not written alone while the others wait behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn callers_who_were_answered_together_are_written_together() {
    let scratch = Arc::new(Scratch::configured(grouped(|options| options.writers = 1)).await);
    let people = people(&scratch, 8).await;
    let rounds = 20;
    let tasks = TaskTracker::new();
    let callers: Vec<_> = people
        .into_iter()
        .map(|(tenant, user)| {
            let scratch = scratch.clone();
            tasks.spawn(async move {
                for round in 0..rounds {
                    let said = turn(user, &format!("{round}")).build();
                    scratch.store.append(&tenant, said).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let batches = scratch.store.sessions.metrics.times("append_at_once");
    // The callers may begin one by one, and a round may lose one; apart it is two batches a round.
    let together = rounds + rounds / 2;
    assert!(batches <= together, "{batches} batches for {rounds} rounds");
}
