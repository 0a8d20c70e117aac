//! A line between the adapter and the service that breaks in every way, under load.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use prometheus::Registry;
use throughline_domain::{Clock as _, SystemClock};
use throughline_durable_history::{
    Backoff, ConversationHistory, DurableConversationHistory, FinishedTurn, HistoryConfig,
    TurnContext,
};
use throughline_platform_identity::{ChannelUser, PlatformIdentity as _, PlatformKind};
use throughline_tests::{Fault, FaultProxy, World, recent_texts};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::channel::{acme, client, metric, parts};
use super::outbox;

const FAULTS: [Fault; 8] = [
    Fault::Reset,
    Fault::Stall,
    Fault::HalfOpen,
    Fault::LoseReplies { after: 0 },
    Fault::CutReplies { after: 0 },
    Fault::Unavailable,
    Fault::Slow {
        piece: 64,
        delay: Duration::from_millis(5),
    },
    Fault::CutReplies { after: 200 },
];

const SCOPES: i64 = 20;
/// Who takes turns: together they say more than a tenant keeps for one person.
const SPEAKERS: [&str; 2] = ["42", "43"];
/// How long the line is broken each time, and whole after it: what is said meanwhile has room to wait.
const FAULT: Duration = Duration::from_millis(625);
/// Room for what half a minute of broken line leaves behind; what is dropped has a test of its own.
const WAITING: usize = 4_096;
/// 200 turns a second.
const PACE: Duration = Duration::from_millis(5);
/// About what an append takes in an unoptimised build.
const SPIN: Duration = Duration::from_micros(200);
/// What the process may have grown by: far more than what may wait, far less than a leak of this load.
const GROWTH_KIB: u64 = 96 * 1024;

/// What was seen while turns were appended.
#[derive(Default)]
struct Seen {
    turns: i64,
    took: Vec<Duration>,
    stolen: Vec<Duration>,
    most_entries: f64,
    most_bytes: f64,
}

fn speaker(id: &str) -> ChannelUser {
    ChannelUser::new(PlatformKind::TelegramChat, id).expect("a plain id")
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[times.len() * percent / 100]
}

/// How much longer than it should a short piece of work of this thread took: what a busy machine takes
/// from an append, too.
fn stolen() -> Duration {
    let start = Instant::now();
    while start.elapsed() < SPIN {
        std::hint::spin_loop();
    }
    start.elapsed().saturating_sub(SPIN)
}

/// A turn each few milliseconds, to one scope after the other, until told to stop.
async fn talk(
    history: &DurableConversationHistory,
    registry: &Registry,
    stop: &CancellationToken,
) -> Seen {
    let began_ms = SystemClock.now().as_millis() - 3_600_000;
    let contexts = SPEAKERS.map(|id| TurnContext::of(acme()).said_by(speaker(id)));
    let mut contexts = contexts.iter().cycle();
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut seen = Seen::default();
    while !stop.is_cancelled() {
        pace.tick().await;
        let number = seen.turns;
        let scope = format!("s{}", number % SCOPES);
        // A usual length, and a moment of its own.
        let turn = FinishedTurn::new(
            format!("{number} {}", "word ".repeat(20)),
            "answer ".repeat(40),
        )
        .with_message_id(number.to_string())
        .said_at_ms(began_ms + number);
        let append = async {
            let start = Instant::now();
            history.append(&scope, turn);
            start.elapsed()
        };
        let context = contexts.next().expect("an endless round");
        seen.took.push(context.clone().enter(append).await);
        seen.stolen.push(stolen());
        seen.turns += 1;
        let entries = metric(registry, "ccm_history_queue_depth")
            + metric(registry, "ccm_history_buffer_entries");
        seen.most_entries = seen.most_entries.max(entries);
        let bytes = metric(registry, "ccm_history_waiting_bytes");
        seen.most_bytes = seen.most_bytes.max(bytes);
    }
    seen
}

/// What this process takes; `None` where the system does not say.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The numbers stored for a speaker, oldest first, once the outbox is empty.
async fn stored(world: &World, speaker: ChannelUser, turns: usize) -> Vec<i64> {
    let direct = client(&world.service.url(), world.acme.key());
    let found = direct.lookup(&acme(), &speaker.id).await.expect("reads");
    let user = found.expect("they were seen").to_string();
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        // What the adapter left with the service while the line lost its answers.
        outbox::drain(world).await;
        let texts = recent_texts(&world.acme, "acme", &user).await;
        if texts.len() >= turns {
            let number = |text: &String| text.split(' ').next().and_then(|n| n.parse().ok());
            return texts
                .iter()
                .rev()
                .map(|text| number(text).expect("a number"))
                .collect();
        }
        let many = texts.len();
        assert!(Instant::now() < deadline, "{many} of {turns} are stored");
    }
}

/// Issue E, T-23, failures.md 1: what was appended is stored once, in each scope in its order; `append` stays
/// fast and what waits stays within its bounds.
async fn faults(rounds: usize) {
    let world = World::start().await;
    let server: SocketAddr = world.service.url()["http://".len()..]
        .parse()
        .expect("well-formed");
    let proxy = FaultProxy::before(server).await.expect("a free port");
    let config = HistoryConfig {
        waiting_turns: WAITING,
        backoff: Backoff {
            first: Duration::from_millis(20),
            most: Duration::from_millis(200),
        },
        ..HistoryConfig::default()
    };
    let (parts, registry) = parts(client(&proxy.url(), world.acme.key()), config);
    let history = DurableConversationHistory::start(parts);
    let stop = CancellationToken::new();
    let before = resident_kib();
    let breaking = async {
        // The line breaks and is whole again for as long, one fault after the other.
        let mut switch = interval(FAULT);
        switch.tick().await;
        for fault in FAULTS.repeat(rounds) {
            proxy.set(fault);
            switch.tick().await;
            proxy.set(Fault::Pass);
            switch.tick().await;
        }
        stop.cancel();
    };
    let ((), mut seen) = tokio::join!(breaking, talk(&history, &registry, &stop));
    let after = resident_kib();
    let flushed = timeout(Duration::from_mins(1), history.flush()).await;
    assert!(flushed.is_ok(), "the line is whole: all is written");

    let [median, p99] = [50, 99].map(|percent| percentile(&mut seen.took, percent));
    let stolen = percentile(&mut seen.stolen, 99);
    let failures = metric(&registry, "ccm_write_failures_total");
    println!(
        "{} turns, append median {median:?}, p99 {p99:?}, of that up to {stolen:?} the machine's, {failures} turns met a fault, at most {} waited with {} bytes, \
         resident {before:?} → {after:?} KiB, {} connections",
        seen.turns,
        seen.most_entries,
        seen.most_bytes,
        proxy.accepted()
    );
    assert!(failures > 0.0, "no fault was met");
    assert!(metric(&registry, "ccm_outbox_local_dropped_total") < 1.0);
    // The machine may take the processor from an append, and from whoever holds a lock that it needs.
    let limit = Duration::from_millis(1);
    assert!(
        median < limit && p99 < limit + stolen * 2,
        "{median:?}, {p99:?}"
    );
    assert!(seen.most_entries <= 4_096.0 && seen.most_bytes <= f64::from(64 << 20));
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + GROWTH_KIB, "{before} → {after} KiB");
    }

    let turns = usize::try_from(seen.turns).expect("positive");
    let mut numbers = Vec::new();
    for (place, id) in SPEAKERS.into_iter().enumerate() {
        let said = (turns - place).div_ceil(SPEAKERS.len());
        numbers.extend(stored(&world, speaker(id), said).await);
    }
    let mut scopes: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for number in &numbers {
        scopes.entry(number % SCOPES).or_default().push(*number);
    }
    for (scope, numbers) in &scopes {
        assert!(
            numbers.is_sorted(),
            "scope {scope} is out of order: {numbers:?}"
        );
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..seen.turns).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_seconds_of_faults_lose_double_and_disorder_nothing() {
    faults(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the long form, a minute: cargo test -p throughline-tests -- --ignored a_minute_of_faults"]
async fn a_minute_of_faults_loses_doubles_and_disorders_nothing() {
    faults(6).await;
}
