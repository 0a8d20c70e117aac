//! A process that is killed loses nothing that was secured, and doubles nothing (D-15).

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use prometheus::Registry;
use throughline_conversation_memory::ChannelKind;
use throughline_domain::{Clock, SystemClock, SystemIds, TenantId};
use throughline_durable_history::{
    ConversationHistory, DurableConversationHistory, FinishedTurn, HistoryMetrics, HistorySpool,
    MemoryWatch, Parts, TurnContext,
};
use throughline_spool::SpoolConfig;

use crate::spooled::key;
use crate::world::{World, quick, sender};

const DIRECTORY: &str = "HISTORY_KILL_TEST_DIRECTORY";
const SECURED: usize = 100;
const SCOPES: usize = 3;

async fn open(directory: &Path) -> Arc<HistorySpool> {
    let (clock, ids) = (Arc::new(SystemClock), Arc::new(SystemIds));
    HistorySpool::open(directory, SpoolConfig::default(), &key(), clock, ids)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_killed_adapter_loses_no_secured_turn() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::child_that_appends_until_killed", "--exact"])
        .args(["--ignored", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let secured = lines
        .map_while(Result::ok)
        .filter(|line| line.contains("secured "))
        .take(SECURED)
        .count();
    // SIGKILL, while it goes on appending.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(secured, SECURED);

    // The service is there again.
    let world = World::at(SystemClock.now()).await;
    let history = DurableConversationHistory::start(Parts {
        spool: Some(open(directory.path()).await),
        config: quick(),
        ..world.parts(MemoryWatch::always(world.service()))
    });
    history.flush().await;
    drop(history);
    let mut all = Vec::new();
    for scope in 0..SCOPES {
        let stored = world.stored(&format!("s{scope}")).await;
        let numbers: Vec<usize> = stored.iter().map(|text| text.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "in order");
        all.extend(numbers);
    }
    all.sort_unstable();
    // One after the other from the first: nothing lost between, nothing twice.
    assert_eq!(all, (0..all.len()).collect::<Vec<_>>());
    assert!(all.len() >= SECURED, "{}", all.len());
}

#[tokio::test]
#[ignore = "the child of the test above"]
async fn child_that_appends_until_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    // The service is away and awaited.
    let (_switch, memory) = MemoryWatch::absent();
    let history = DurableConversationHistory::start(Parts {
        channel: ChannelKind::parse("telegram-chat").unwrap(),
        memory,
        spool: Some(open(&directory).await),
        metrics: HistoryMetrics::register(&Registry::new()).unwrap(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        config: quick(),
    });
    let context = TurnContext::of(TenantId::parse("acme").unwrap()).said_by(sender("42"));
    for n in 0.. {
        let scope = format!("s{}", n % SCOPES);
        let turn = FinishedTurn::new(n.to_string(), "ok");
        let append = async { history.append(&scope, turn) };
        context.clone().enter(append).await;
        history.secured().await;
        let mut out = std::io::stdout().lock();
        // The parent is gone when this fails.
        let told = writeln!(out, "secured {n}").and_then(|()| out.flush());
        if told.is_err() {
            std::process::exit(0);
        }
    }
}
