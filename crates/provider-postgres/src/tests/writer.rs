//! The group-commit writer: every caller gets its own answer, whatever happens around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    AppendError, AppendOutcome, Appended, ConversationMemory as _, RejectReason,
};
use throughline_domain::{SystemClock, SystemIds, TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity as _, PlatformKind};
use throughline_scratch_postgres::{Server, Settings};
use throughline_tenancy::{Tenancy as _, TenantConfig};
use tokio_util::task::TaskTracker;

use super::scratch::{Scratch, prepared};
use crate::{PostgresConfig, PostgresStore, WriteStrategy, WriterOptions, migrate};

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

async fn people(scratch: &Scratch, tenants: usize) -> Vec<(TenantId, UserId)> {
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

/// kill -9 of the server under load: acknowledged means stored once, and nothing is stored twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_a_killed_server() {
    let server = Server::start(Settings::durable()).unwrap();
    server.create_database("killed", None).unwrap();
    let config = PostgresConfig::new(server.url("killed").into());
    migrate(&config).await.unwrap();
    let registry = prometheus::Registry::new();
    let (clock, ids) = (Arc::new(SystemClock), Arc::new(SystemIds));
    let store = PostgresStore::connect(config, clock, ids, &registry).unwrap();
    let mut people = Vec::new();
    for number in 0..8 {
        let tenant = TenantId::parse(&format!("t{number}")).unwrap();
        store
            .create_tenant(&tenant, TenantConfig::default())
            .await
            .unwrap();
        let who = ChannelUser::new(PlatformKind::Custom, "somebody").unwrap();
        let user = store.resolve(&tenant, &who).await.unwrap().user_id;
        people.push((tenant, user));
    }
    let tasks = TaskTracker::new();
    let (done, count) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let writers: Vec<_> = (0..32)
        .map(|caller| {
            let (store, (tenant, user)) = (store.clone(), people[caller % 8].clone());
            let (done, count) = (done.clone(), count.clone());
            tasks.spawn(async move {
                let (mut acknowledged, mut failures) = (Vec::new(), 0);
                let mut number = 0;
                while !done.load(Ordering::Relaxed) {
                    let key = format!("{caller} {number}");
                    number += 1;
                    match store.append(&tenant, turn(user, &key).build()).await {
                        Ok(Appended { turn_id, .. })
                        | Err(AppendError::Committed { turn_id, .. }) => {
                            acknowledged.push((key, turn_id));
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(AppendError::Transport { .. } | AppendError::Timeout { .. }) => {
                            failures += 1;
                        }
                        Err(error) => panic!("{error:?}"),
                    }
                }
                (acknowledged, failures)
            })
        })
        .collect();
    for round in 1..=3 {
        let enough = count.load(Ordering::Relaxed) + 300;
        while count.load(Ordering::Relaxed) < enough {
            tokio::task::yield_now().await;
        }
        if round < 3 {
            server.kill().unwrap();
            server.restart().unwrap();
        }
    }
    done.store(true, Ordering::Relaxed);
    let (mut acknowledged, mut failures) = (Vec::new(), 0);
    for writer in writers {
        let (keys, failed) = writer.await.unwrap();
        acknowledged.extend(keys);
        failures += failed;
    }
    assert!(
        failures > 0 && acknowledged.len() > 100,
        "{failures} failures"
    );
    let stored = "select client_message_id || ' ' || id from cross_channel_messages;";
    let stored = server.psql("killed", stored).unwrap();
    let rows: std::collections::HashSet<&str> = stored.lines().collect();
    for (key, id) in &acknowledged {
        let id = uuid::Uuid::from_u128(id.as_u128());
        assert!(
            rows.contains(format!("{key} {id}").as_str()),
            "{key} is gone"
        );
    }
    let twice = "select count(*) - count(distinct (tenant_id, client_message_id)) from cross_channel_messages;";
    assert_eq!(server.psql("killed", twice).unwrap(), "0");
    assert_eq!(server.psql("killed", WRONG_COUNTERS).unwrap(), "0");
    println!("{} acknowledged, {failures} failures", acknowledged.len());
}

/// Users whose counters are not what the rows say.
const WRONG_COUNTERS: &str = "select count(*) from users u left join (
    select tenant_id, user_id, count(*) as turns,
        sum(user_message_bytes + assistant_bytes + aux_bytes) as bytes
    from cross_channel_messages group by 1, 2
) m using (tenant_id, user_id)
where u.turn_count <> coalesce(m.turns, 0) or u.byte_count <> coalesce(m.bytes, 0);";

/// What the appends of one call in a hundred are.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    New,
    Duplicate,
    Conflict,
    Refused,
}

fn kind(number: usize) -> Kind {
    match number % 100 {
        97 => Kind::Duplicate,
        98 => Kind::Conflict,
        99 => Kind::Refused,
        _ => Kind::New,
    }
}

/// The promise: 100,000 appends, 256 callers, 64 tenants, one in a hundred a duplicate, a
/// conflict, a refused row each: every answer is right, and the store is what the answers say.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_mixed_appends_are_each_answered_rightly() {
    const CALLERS: usize = 256;
    let each = 100_000_usize.div_ceil(CALLERS);
    let scratch = Arc::new(prepared().await);
    let people = Arc::new(people(&scratch, 64).await);
    let tasks = TaskTracker::new();
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (scratch, people) = (scratch.clone(), people.clone());
            tasks.spawn(async move {
                let (tenant, user) = &people[caller % 64];
                let mut ids: Vec<Appended> = Vec::new();
                for number in 0..each {
                    let key = format!(
                        "{caller} {}",
                        if kind(number) == Kind::New {
                            number
                        } else {
                            number / 100 * 100
                        }
                    );
                    let said = turn(*user, &key).saying(&format!("words of {key}"));
                    let turn = match kind(number) {
                        Kind::New | Kind::Duplicate => said.build(),
                        Kind::Conflict => turn(*user, &key).saying("other words").build(),
                        Kind::Refused => {
                            turn(UserId::from_u128(1), &format!("{key} nobody")).build()
                        }
                    };
                    let answer = scratch.store.append(tenant, turn).await;
                    match (kind(number), answer) {
                        (Kind::New, Ok(appended)) if appended.outcome == AppendOutcome::Stored => {
                            ids.push(appended);
                        }
                        (Kind::Duplicate, Ok(appended))
                            if appended.outcome == AppendOutcome::Duplicate =>
                        {
                            let first = number / 100 * 97;
                            assert_eq!(
                                (appended.turn_id, appended.seq),
                                (ids[first].turn_id, ids[first].seq)
                            );
                        }
                        (
                            Kind::Conflict,
                            Err(AppendError::Rejected {
                                reason: RejectReason::IdempotencyMismatch,
                                ..
                            }),
                        )
                        | (
                            Kind::Refused,
                            Err(AppendError::Rejected {
                                reason: RejectReason::UnknownUser,
                                ..
                            }),
                        ) => {}
                        (_, answer) => panic!("{caller} {number}: {answer:?}"),
                    }
                }
                ids.into_iter()
                    .map(|appended| appended.turn_id)
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let mut acknowledged: Vec<u128> = Vec::new();
    for caller in callers {
        acknowledged.extend(caller.await.unwrap().iter().map(|id| id.as_u128()));
    }
    let stored = scratch
        .database
        .psql("select id from cross_channel_messages;")
        .unwrap();
    let mut stored: Vec<u128> = stored
        .lines()
        .map(|id| id.parse::<uuid::Uuid>().unwrap().as_u128())
        .collect();
    stored.sort_unstable();
    acknowledged.sort_unstable();
    assert!(
        stored == acknowledged,
        "{} stored, {} acknowledged",
        stored.len(),
        acknowledged.len()
    );
    assert_eq!(scratch.database.psql(WRONG_COUNTERS).unwrap(), "0");
}
