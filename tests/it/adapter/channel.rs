//! A Telegram-like channel in a process of its own, which is told what to do line by line.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_client::{Client, Keys, Settings};
use throughline_conversation_memory::ChannelKind;
use throughline_domain::{SystemClock, SystemIds, TenantId};
use throughline_durable_history::{
    Backoff, ConversationHistory, DurableConversationHistory, FinishedTurn, HistoryConfig,
    HistoryMetrics, HistorySpool, MemoryWatch, Parts, TurnContext,
};
use throughline_platform_identity::{ChannelUser, PlatformKind};
use throughline_spool::{SpoolConfig, SpoolKey};

const URL: &str = "CHANNEL_TEST_URL";
const KEY: &str = "CHANNEL_TEST_KEY";
const DIRECTORY: &str = "CHANNEL_TEST_DIRECTORY";
const BEGAN: &str = "CHANNEL_TEST_BEGAN_MS";

/// What waits in the process of a channel without a disk.
pub(super) const BUFFER: usize = 8;

/// The person on this channel.
pub(super) fn mina() -> ChannelUser {
    ChannelUser::new(PlatformKind::TelegramChat, "42").expect("a plain id")
}

pub(super) fn acme() -> TenantId {
    TenantId::parse("acme").expect("well-formed")
}

/// A client that does not wait long for a service that is away.
pub(super) fn client(url: &str, key: &str) -> Client {
    let settings = Settings {
        deadline: Duration::from_millis(1_500),
        attempt: Duration::from_millis(500),
        first_wait: Duration::from_millis(10),
        longest_wait: Duration::from_millis(100),
        ..Settings::default()
    };
    let client = Client::builder(url, Keys::one(key).expect("a usable key")).settings(settings);
    client.build().expect("a usable setup")
}

pub(super) fn parts(client: Client, config: HistoryConfig) -> (Parts, Registry) {
    let registry = Registry::new();
    let parts = Parts {
        channel: ChannelKind::parse("telegram-chat").expect("well-formed"),
        memory: MemoryWatch::always(client.into()),
        spool: None,
        metrics: HistoryMetrics::register(&registry).expect("an empty registry"),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        config,
    };
    (parts, registry)
}

/// The sum of a series over its labels.
pub(super) fn metric(registry: &Registry, name: &str) -> f64 {
    let families = registry.gather();
    let family = families.iter().find(|family| family.name() == name);
    let family = family.unwrap_or_else(|| panic!("no metric {name}"));
    let values = family.get_metric().iter();
    values
        .map(|series| series.get_counter().get_value() + series.get_gauge().get_value())
        .sum()
}

/// Where a channel's process finds what it needs.
pub(super) struct Surroundings<'a> {
    pub(super) url: String,
    pub(super) key: &'a str,
    /// Message `n` was sent so many milliseconds later.
    pub(super) began_ms: i64,
    /// Its disk.
    pub(super) directory: Option<&'a Path>,
}

/// A channel's process; killed when it is dropped.
pub(super) struct Channel {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Channel {
    pub(super) fn start(surroundings: &Surroundings<'_>) -> Self {
        let me = std::env::current_exe().expect("a test has a path");
        let mut command = Command::new(me);
        command
            .args(["adapter::channel::child_that_is_a_channel", "--exact"])
            .args(["--ignored", "--nocapture"])
            .env(URL, &surroundings.url)
            .env(KEY, surroundings.key)
            .env(BEGAN, surroundings.began_ms.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(directory) = surroundings.directory {
            command.env(DIRECTORY, directory);
        }
        let mut child = command.spawn().expect("this binary can be started");
        let orders = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self {
            child,
            orders,
            answers,
        }
    }

    /// The answer to an order.
    pub(super) fn ask(&mut self, order: &str) -> String {
        writeln!(self.orders, "{order}").expect("the channel lives");
        let mut answers = self.answers.by_ref().map_while(Result::ok);
        // The test harness of the child says this and that before; what is ours is marked.
        let answer = answers.find_map(|line| Some(line.split_once("answer: ")?.1.to_owned()));
        answer.expect("the channel lives")
    }

    /// Messages with these numbers arrive and are answered.
    pub(super) fn hear(&mut self, numbers: std::ops::RangeInclusive<i64>) {
        for number in numbers {
            assert_eq!(self.ask(&format!("hear {number}")), "heard");
        }
    }

    pub(super) fn number(&mut self, order: &str) -> usize {
        self.ask(order).parse().expect("a number")
    }

    /// As `kill -9` does.
    pub(super) fn kill(mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("a child can be waited for");
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn key() -> SpoolKey {
    SpoolKey::from_bytes(std::array::from_fn(|i| u8::try_from(i * 3).unwrap_or(0)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the process behind `Channel`"]
async fn child_that_is_a_channel() {
    let variables = [URL, KEY, BEGAN].map(|name| std::env::var(name).ok());
    let [Some(url), Some(access), Some(began)] = variables else {
        return;
    };
    let directory = std::env::var_os(DIRECTORY).map(PathBuf::from);
    let plain = HistoryConfig::default();
    let config = HistoryConfig {
        waiting_turns: directory.as_ref().map_or(BUFFER, |_| plain.waiting_turns),
        backoff: Backoff {
            first: Duration::from_millis(10),
            most: Duration::from_millis(100),
        },
        ..plain
    };
    let (mut parts, registry) = parts(client(&url, &access), config);
    if let Some(directory) = directory {
        let (clock, ids, key) = (Arc::new(SystemClock), Arc::new(SystemIds), key());
        let spool = HistorySpool::open(&directory, SpoolConfig::default(), &key, clock, ids);
        parts.spool = Some(spool.await.expect("the directory is ours"));
    }
    let history = DurableConversationHistory::start(parts);
    let began_ms: i64 = began.parse().expect("a number");
    for order in std::io::stdin().lines().map_while(Result::ok) {
        let answer = obey(&history, &registry, began_ms, &order).await;
        println!("answer: {answer}");
    }
}

async fn obey(
    history: &DurableConversationHistory,
    registry: &Registry,
    began_ms: i64,
    order: &str,
) -> String {
    match order.split_once(' ') {
        // `hear <number of the message>`; the platform gives each its id and its moment.
        Some(("hear", number)) => {
            let sent_at = began_ms + number.parse::<i64>().expect("a number");
            let turn = FinishedTurn::new(format!("message {number}"), "ok")
                .with_message_id(number)
                .said_at_ms(sent_at);
            let context = TurnContext::of(acme()).said_by(mina());
            context.enter(async { history.append("42", turn) }).await;
            "heard".to_owned()
        }
        _ => match order {
            "past" => {
                let context = TurnContext::of(acme()).said_by(mina());
                let past = context.enter(history.get("42")).await;
                past.len().to_string()
            }
            "flush" => {
                history.flush().await;
                "flushed".to_owned()
            }
            "secure" => {
                history.secured().await;
                "secured".to_owned()
            }
            "waiting" => {
                let waiting = metric(registry, "ccm_history_queue_depth")
                    + metric(registry, "ccm_history_buffer_entries");
                waiting.to_string()
            }
            "dropped" => metric(registry, "ccm_outbox_local_dropped_total").to_string(),
            other => panic!("unknown order {other}"),
        },
    }
}
