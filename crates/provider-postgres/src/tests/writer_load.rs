//! The group-commit writer under load: what was acknowledged is stored, once, and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, AppendOutcome, Appended, ConversationMemory as _, RejectReason,
};
use throughline_domain::{SystemClock, SystemIds, TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity as _, PlatformKind};
use throughline_scratch_postgres::{Server, Settings};
use throughline_tenancy::{Tenancy as _, TenantConfig};
use tokio_util::task::TaskTracker;

use super::scratch::prepared;
use super::writer::people;
use crate::{PostgresConfig, PostgresStore, migrate};

/// Users whose counters are not what the rows say.
const WRONG_COUNTERS: &str = "select count(*) from users u left join (
    select tenant_id, user_id, count(*) as turns,
        sum(user_message_bytes + assistant_bytes + aux_bytes) as bytes
    from cross_channel_messages group by 1, 2
) m using (tenant_id, user_id)
where u.turn_count <> coalesce(m.turns, 0) or u.byte_count <> coalesce(m.bytes, 0);";

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
