//! Rounds of one fault: load, fault in the middle, recovery, quiet, judgement.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use rand::Rng as _;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::call::call;
use crate::checker::{Broken, Promise, check};
use crate::fault::Fault;
use crate::follower;
use crate::history::{History, Outcome};
use crate::load::Load;
use crate::stage::{REPLICAS, Stage};
use crate::store::{Followed, Store};
use crate::table::Tried;
use crate::{operator, reader, writer};

const WRITERS: u64 = 5;
const BATCHES: u64 = 2;
const READERS: u64 = 3;
/// Longer than this and a server did not come back at all.
const RECOVERY: Duration = Duration::from_secs(40);
/// Longer than a claim on a queued append lasts whose holder lost the store (two minutes), and than what
/// failed once waits for its second attempt (a minute, a fifth more or less).
const QUIET: Duration = Duration::from_secs(200);

/// How long things take.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Load before the fault, and after the recovery, at most.
    pub load: Duration,
    /// How long Postgres is paused.
    pub pause: Duration,
}

/// What one round showed.
#[derive(Debug)]
pub struct Round {
    /// Calls of every kind.
    pub calls: usize,
    /// Appends acknowledged, turns of batches each.
    pub acknowledged: usize,
    /// Attempts that were left open.
    pub unknown: usize,
    /// Attempts that were refused.
    pub refused: usize,
    /// Reads that were answered.
    pub reads: usize,
    /// From the moment that everything could work until both servers stored a turn.
    pub recovery: Duration,
    /// What was broken.
    pub broken: Vec<Broken>,
}

/// Plays that many rounds of one fault on one stage. The error says why this machine cannot.
pub async fn rounds(
    fault: Fault,
    count: u32,
    seed: u64,
    pace: Pace,
    mut say: impl FnMut(&Round),
) -> Result<Tried, String> {
    let stage = Arc::new(Stage::set(fault).await?);
    let mut tried = Tried::new(fault);
    for number in 0..count {
        let seed = seed.wrapping_mul(10_007).wrapping_add(u64::from(number));
        let round = round(&stage, fault, number, seed, pace).await?;
        say(&round);
        tried.add(round);
    }
    Ok(tried)
}

async fn round(
    stage: &Arc<Stage>,
    fault: Fault,
    number: u32,
    seed: u64,
    pace: Pace,
) -> Result<Round, String> {
    let name = format!("r{number}");
    let mut rng = <rand::rngs::StdRng as rand::SeedableRng>::seed_from_u64(seed);
    let started = fault.prepare(stage, &mut rng, &name).await?;
    let load = Arc::new(Load::new(stage.clone(), fault, &name, seed).await);
    let mut callers = callers(&load);
    let mut watch = JoinSet::new();
    let watched = load.clone();
    watch.spawn(async move { follower::follow(&watched).await });
    sleep(pace.load.mul_f64(rng.random_range(0.3..1.0))).await;
    let struck = fault.strike(stage, &mut rng, pace).await;
    let recovery = match &struck {
        Ok(lifted) => recovered(&load, *lifted).await,
        Err(_) => None,
    };
    sleep(pace.load.mul_f64(0.5)).await;
    load.stop.cancel();
    let mut broken = ended(&mut callers).await;
    let followed = watch.join_all().await.pop().unwrap_or_default();
    struck?;
    if recovery.is_none() {
        let evidence = format!(
            "no server stored a turn within {RECOVERY:?}: {}",
            tail(&stage.logs())
        );
        broken.push(Broken::new(Promise::Answer, evidence));
    }
    settle(&load, &mut broken).await;
    reader::everything(&load).await;
    let history = load.history();
    judge(&load, &history, followed, &mut broken)?;
    Ok(summary(
        &history,
        started.or(recovery).unwrap_or(RECOVERY),
        broken,
    ))
}

fn callers(load: &Arc<Load>) -> JoinSet<()> {
    let mut callers = JoinSet::new();
    let mut number = 0;
    let mut next = || {
        number += 1;
        (load.clone(), number)
    };
    for _ in 0..WRITERS {
        let (load, number) = next();
        callers.spawn(async move { writer::single(&load, number).await });
    }
    for _ in 0..BATCHES {
        let (load, number) = next();
        callers.spawn(async move { writer::batches(&load, number).await });
    }
    for _ in 0..READERS {
        let (load, number) = next();
        callers.spawn(async move { reader::recent(&load, number).await });
    }
    let (intruding, number) = next();
    callers.spawn(async move { reader::intruder(&intruding, number).await });
    for tenant in 0..load.tenants.len() {
        let (load, number) = next();
        callers.spawn(async move { operator::work(&load, number, tenant).await });
    }
    callers
}

/// Waits for all callers; one that panics is a fault of the harness and shown as such.
async fn ended(callers: &mut JoinSet<()>) -> Vec<Broken> {
    let mut broken = Vec::new();
    while let Some(caller) = callers.join_next().await {
        if let Err(error) = caller {
            broken.push(Broken::new(
                Promise::Answer,
                format!("a caller failed: {error}"),
            ));
        }
    }
    broken
}

/// How long it took until every server stored a turn that was sent after the fault was over.
async fn recovered(load: &Arc<Load>, lifted: Instant) -> Option<Duration> {
    let mut probes = JoinSet::new();
    for replica in 0..REPLICAS {
        let load = load.clone();
        probes.spawn(async move {
            for attempt in 0.. {
                if lifted.elapsed() > RECOVERY {
                    return None;
                }
                if writer::probe(&load, replica, format!("p{replica}n{attempt}")).await {
                    return Some(lifted.elapsed());
                }
                sleep(Duration::from_millis(20)).await;
            }
            None
        });
    }
    let took: Option<Vec<Duration>> = probes.join_all().await.into_iter().collect();
    took?.into_iter().max()
}

/// Lets everything that waits be stored, and every statement that runs end.
async fn settle(load: &Load, broken: &mut Vec<Broken>) {
    let began = Instant::now();
    let mut waits = true;
    while waits && began.elapsed() < QUIET {
        waits = false;
        for operator in &load.operator {
            let reply = load
                .call(operator, Method::POST, "/admin/jobs/outbox/run", None)
                .await;
            let queue = reply.success().map(|body| &body["queue"]);
            let empty = queue.is_some_and(|queue| {
                queue["waiting"] == 0 && queue["away"] == false && queue["unfinished"] == false
            });
            waits |= !empty;
        }
        waits |= pending(load).await;
        if waits {
            sleep(Duration::from_millis(200)).await;
        }
    }
    if waits {
        let (postgres, database) = (load.stage.postgres.clone(), load.stage.database());
        let sql = "select tenant_id, client_message_id, state, attempts, last_error, \
                   next_attempt_at - now(), lease_until - now() from ccm_outbox;";
        let asked = tokio::task::spawn_blocking(move || postgres.psql(&database, sql)).await;
        let waiting = asked.ok().and_then(Result::ok).unwrap_or_default();
        let evidence =
            format!("what was queued is not stored {QUIET:?} after the fault: {waiting}");
        broken.push(Broken::new(Promise::Kept, evidence));
    }
    let busy = "select count(*) from pg_stat_activity where backend_type = 'client backend' \
                and state <> 'idle' and pid <> pg_backend_pid();";
    while began.elapsed() < QUIET * 2 {
        let (postgres, database) = (load.stage.postgres.clone(), load.stage.database());
        let asked = tokio::task::spawn_blocking(move || postgres.psql(&database, busy)).await;
        if asked.is_ok_and(|busy| busy.is_ok_and(|busy| busy.trim() == "0")) {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Whether something is in line, due or not, in the outbox or on a server's disk: a run only tells of what
/// was due.
async fn pending(load: &Load) -> bool {
    for operator in &load.operator {
        let metrics = call(operator, Method::GET, "/metrics", None).await;
        if !spool_is_empty(metrics.success()) {
            return true;
        }
    }
    let (postgres, database) = (load.stage.postgres.clone(), load.stage.database());
    let sql = "select count(*) from ccm_outbox where state = 'pending';";
    let asked = tokio::task::spawn_blocking(move || postgres.psql(&database, sql)).await;
    !asked.is_ok_and(|count| count.is_ok_and(|count| count.trim() == "0"))
}

fn spool_is_empty(metrics: Option<&serde_json::Value>) -> bool {
    let text = metrics
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default();
    let mut entries = text
        .lines()
        .filter_map(|line| line.strip_prefix("ccm_spool_entries"));
    entries.any(|rest| rest.trim_end().ends_with(" 0"))
}

fn judge(
    load: &Load,
    history: &History,
    followed: BTreeMap<String, Followed>,
    broken: &mut Vec<Broken>,
) -> Result<(), String> {
    let stage = &load.stage;
    let tenants: Vec<String> = load
        .tenants
        .iter()
        .map(|tenant| tenant.name.clone())
        .collect();
    let store =
        tokio::task::block_in_place(|| Store::read(&stage.postgres, &stage.database(), &tenants));
    let mut store = store.map_err(|error| error.0)?;
    store.followed = followed;
    broken.extend(check(history, &store));
    let logs = stage.logs();
    if logs.contains("panicked") {
        let evidence = format!("a server panicked: {}", tail(&logs));
        broken.push(Broken::new(Promise::Answer, evidence));
    }
    Ok(())
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

fn summary(history: &History, recovery: Duration, broken: Vec<Broken>) -> Round {
    let count = |is: fn(&Outcome) -> bool| {
        history
            .appends
            .iter()
            .filter(|append| is(&append.outcome))
            .count()
    };
    Round {
        calls: history.calls,
        acknowledged: count(|outcome| matches!(outcome, Outcome::Stored { .. } | Outcome::Queued)),
        unknown: count(|outcome| matches!(outcome, Outcome::Unknown(_))),
        refused: count(|outcome| matches!(outcome, Outcome::Refused(_))),
        reads: history.reads.len(),
        recovery,
        broken,
    }
}
