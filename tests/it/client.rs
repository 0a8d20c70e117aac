//! The client through a line that breaks, in front of a real service on a real Postgres.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use throughline_client::{Client, ClientError, Keys, Settings};
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, AppendOutcome, ConversationMemory, Limit, NewTurn, RecentQuery,
};
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_tests::{Fault, FaultProxy, World};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

const DEADLINE: Duration = Duration::from_millis(1_500);
/// What a busy machine may add to a deadline.
const GRACE: Duration = Duration::from_secs(1);

const FAULTS: [Fault; 9] = [
    Fault::Reset,
    Fault::Unavailable,
    Fault::Stall,
    Fault::HalfOpen,
    Fault::LoseReplies { after: 0 },
    Fault::LoseReplies { after: 40 },
    Fault::CutReplies { after: 0 },
    Fault::CutReplies { after: 200 },
    Fault::Slow {
        piece: 64,
        delay: Duration::from_millis(5),
    },
];

struct Line {
    world: World,
    proxy: FaultProxy,
    client: Client,
    acme: TenantId,
    mina: UserId,
}

/// A client behind a proxy, and a user of its tenant.
async fn line() -> Line {
    let world = World::start().await;
    let server: SocketAddr = world.service.url()["http://".len()..]
        .parse()
        .expect("well-formed");
    let proxy = FaultProxy::before(server)
        .await
        .expect("loopback has a free port");
    let client = client(&proxy.url(), world.acme.key());
    let acme = TenantId::parse("acme").expect("well-formed");
    let who = ChannelUser::new(PlatformKind::Custom, "mina").expect("a plain id");
    let mina = client.resolve(&acme, &who).await.expect("resolves").user_id;
    Line {
        world,
        proxy,
        client,
        acme,
        mina,
    }
}

fn client(url: &str, key: &str) -> Client {
    let settings = Settings {
        deadline: DEADLINE,
        attempt: Duration::from_millis(400),
        first_wait: Duration::from_millis(10),
        longest_wait: Duration::from_millis(100),
        ..Settings::default()
    };
    let client = Client::builder(url, Keys::one(key).expect("a usable key")).settings(settings);
    client.build().expect("a usable setup")
}

fn said(user: UserId, key: &str) -> NewTurn {
    turn(user, key).saying(key).build()
}

impl Line {
    /// Everything stored for the user, oldest first, asked past the proxy.
    async fn stored(&self) -> Vec<String> {
        let direct = client(&self.world.service.url(), self.world.acme.key());
        let mut query = RecentQuery {
            limit: Limit::new(Limit::MAX).expect("not zero"),
            ..RecentQuery::default()
        };
        let mut texts = Vec::new();
        loop {
            let page = direct
                .recent(&self.acme, self.mina, &query)
                .await
                .expect("reads");
            texts.extend(page.turns.into_iter().map(|turn| turn.user_message));
            match page.next {
                Some(next) => query.before = Some(next),
                None => break,
            }
        }
        texts.reverse();
        let usage = direct.usage(&self.acme, self.mina).await.expect("reads");
        assert_eq!(usage.turn_count, texts.len() as u64);
        texts
    }
}

/// failures.md 1 and 28: writers keep on while the line breaks in every way, one fault after the other.
/// What was acknowledged is stored, once; what was said not to be stored is not; what is repeated with
/// its key is stored once; and no call takes longer than its deadline.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_append_is_stored_once_whatever_the_line_does() {
    const WRITERS: u32 = 4;
    let line = Arc::new(line().await);
    let running = Arc::new(AtomicBool::new(true));
    let answered = Arc::new(Semaphore::new(0));
    let tasks = TaskTracker::new();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (line, running, answered) = (line.clone(), running.clone(), answered.clone());
            tasks.spawn(async move {
                let mut told = BTreeMap::new();
                for number in 0.. {
                    if !running.load(Ordering::SeqCst) {
                        break;
                    }
                    let key = format!("{writer}-{number}");
                    let start = Instant::now();
                    let answer = line.client.append(&line.acme, said(line.mina, &key)).await;
                    let took = start.elapsed();
                    assert!(took < DEADLINE + GRACE, "{took:?}: {answer:?}");
                    answered.add_permits(1);
                    told.insert(key, answer);
                }
                told
            })
        })
        .collect();
    for fault in FAULTS {
        line.proxy.set(fault);
        // Each fault lasts until every writer has met it, then the line is whole for as long.
        after_answers(&answered, WRITERS * 2).await;
        line.proxy.set(Fault::Pass);
        after_answers(&answered, WRITERS * 10).await;
    }
    running.store(false, Ordering::SeqCst);
    let mut told = BTreeMap::new();
    for writer in writers {
        told.extend(writer.await.expect("no writer panics"));
    }

    let stored = line.stored().await;
    let distinct: BTreeSet<&String> = stored.iter().collect();
    assert_eq!(distinct.len(), stored.len(), "something is stored twice");
    let mut failed = Vec::new();
    let mut counts = BTreeMap::new();
    for (key, answer) in &told {
        let kind = match answer {
            Ok(appended) if appended.outcome == AppendOutcome::Stored => "stored",
            Ok(_) => "duplicate",
            Err(AppendError::Committed { .. }) => "committed",
            Err(AppendError::Timeout { .. }) => "timeout",
            Err(AppendError::Transport { .. }) => "transport",
            Err(AppendError::Rejected { .. }) => panic!("{key}: {answer:?}"),
        };
        *counts.entry(kind).or_insert(0) += 1;
        match kind {
            "stored" | "duplicate" | "committed" => {
                assert!(distinct.contains(key), "{key} was acknowledged and is lost");
            }
            // Not stored for sure.
            "transport" => assert!(!distinct.contains(key), "{key}: {answer:?}"),
            _ => {}
        }
        if answer.is_err() {
            failed.push(key.clone());
        }
    }
    println!("{counts:?}");
    assert!(counts["stored"] > 100 && !failed.is_empty(), "{counts:?}");

    for key in &failed {
        let answer = line.client.append(&line.acme, said(line.mina, key)).await;
        assert!(answer.is_ok(), "{key}: {answer:?}");
    }
    let stored = line.stored().await;
    let distinct: BTreeSet<&String> = stored.iter().collect();
    assert_eq!(distinct, told.keys().collect());
    assert_eq!(stored.len(), told.len());
}

/// Waits for so many answers from now on.
async fn after_answers(answered: &Semaphore, more: u32) {
    answered.forget_permits(answered.available_permits());
    let met = tokio::time::timeout(Duration::from_mins(1), answered.acquire_many(more)).await;
    let met = met.expect("writers go on");
    met.expect("nobody closes it").forget();
}

/// Reads and changes too: within the deadline, an error and never an empty answer (failures.md 34), and
/// whole again with the line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_keeps_its_deadline_and_finds_the_line_again() {
    let line = line().await;
    let (client, acme, mina) = (&line.client, &line.acme, line.mina);
    let stored = client.append(acme, said(mina, "k")).await.unwrap();
    let scope = said(mina, "k").scope().clone();
    let who = ChannelUser::new(PlatformKind::Custom, "mina").unwrap();
    let latest = RecentQuery::default();
    for fault in FAULTS {
        line.proxy.set(fault);
        let start = Instant::now();
        let (recent, usage, resolved, batch, cleared) = tokio::join!(
            client.recent(acme, mina, &latest),
            client.usage(acme, mina),
            client.resolve(acme, &who),
            client.append_batch(acme, vec![said(mina, "k"), said(mina, "k")]),
            client.clear(acme, &scope),
        );
        let took = start.elapsed();
        assert!(took < DEADLINE + GRACE, "{fault:?}: {took:?}");
        if let Ok(page) = recent {
            assert_eq!(page.turns.len(), 1, "{fault:?}");
        }
        if let Ok(usage) = usage {
            assert_eq!(usage.turn_count, 1, "{fault:?}");
        }
        if let Ok(resolved) = resolved {
            assert_eq!(
                (resolved.user_id, resolved.is_new),
                (mina, false),
                "{fault:?}"
            );
        }
        for answer in batch {
            match answer {
                Ok(appended) => assert_eq!(appended.turn_id, stored.turn_id, "{fault:?}"),
                Err(error) => assert!(ClientError::behind(&error).is_some(), "{error:?}"),
            }
        }
        if let Err(error) = cleared {
            assert!(ClientError::behind(&error).is_some(), "{error:?}");
        }
        line.proxy.set(Fault::Pass);
        let page = client.recent(acme, mina, &latest).await;
        assert_eq!(page.unwrap().turns.len(), 1, "{fault:?}");
    }
}

/// Calls that come one after the other share connections: few, not exactly one, for the pool opens
/// another when the last one is not back yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_used_again() {
    let line = line().await;
    for number in 0..50 {
        let key = format!("k{number}");
        let answer = line.client.append(&line.acme, said(line.mina, &key)).await;
        answer.expect("stored");
    }
    let connections = line.proxy.accepted();
    assert!((1..10).contains(&connections), "{connections}");
}

/// Once nobody listens, a turn is known not to be stored; a read is an error and never an empty list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_gone_is_told_from_one_that_is_slow() {
    let line = line().await;
    let direct = client(&line.world.service.url(), line.world.acme.key());
    line.world.service.signal(rustix::process::Signal::KILL);
    let gone = async {
        // The signal may take a moment to arrive, and what it meets is not known to be stored or not.
        loop {
            let answer = direct.append(&line.acme, said(line.mina, "k")).await;
            match answer {
                Ok(_) | Err(AppendError::Timeout { .. }) => {}
                Err(AppendError::Transport { .. }) => return,
                Err(other) => panic!("{other:?}"),
            }
        }
    };
    let gone = tokio::time::timeout(Duration::from_secs(30), gone).await;
    gone.expect("nobody listens any more");
    let latest = RecentQuery::default();
    let read = direct.recent(&line.acme, line.mina, &latest).await;
    let error = read.expect_err("nobody answers");
    let cause = ClientError::behind(&error);
    assert!(
        matches!(cause, Some(ClientError::NotConnected(_))),
        "{cause:?}"
    );
}
