//! What the drain promises as a job: it stores all that waits, and a stop leaves the rest as it was.

use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_append_queue::{Counts, Deps, QueueMetrics};
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    ChannelKind, ConversationMemory as _, Outbox as _, QueuedAppend, QueuedAuthor,
};
use throughline_domain::{
    Clock as _, ManualClock, SystemIds, TenantId, Timestamp, UserId, WorkerId,
};
use throughline_jobs::{Job as _, JobContext, Outbox, Outcome};
use throughline_platform_identity::{ChannelUser, PlatformIdentity as _, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{Tenancy as _, TenantConfig};
use tokio::time::Instant;

struct Uncounted;

impl Counts for Uncounted {
    fn stored(&self, _: &ChannelKind) {}
    fn failed(&self) {}
}

struct Queue {
    store: Arc<InMemoryStore>,
    acme: TenantId,
    mina: UserId,
    job: Outbox,
}

/// So many turns of one person wait.
async fn queue(waiting: u64) -> Queue {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let store = InMemoryStore::new(clock.clone(), Arc::new(SystemIds));
    let acme = TenantId::parse("acme").unwrap();
    let config = TenantConfig::default();
    store.create_tenant(&acme, config).await.unwrap();
    let who = ChannelUser::new(PlatformKind::Custom, "mina").unwrap();
    let mina = store.resolve(&acme, &who).await.unwrap().user_id;
    for number in 0..waiting {
        let turn = turn(mina, &format!("k{number}")).build();
        let append = QueuedAppend::new(QueuedAuthor::User(mina), turn, clock.now());
        store.enqueue(&acme, &append).await.unwrap();
    }
    let metrics = QueueMetrics::register(&Registry::new(), None, clock.clone());
    let job = Outbox::new(Deps {
        memory: store.clone(),
        identity: store.clone(),
        tenancy: store.clone(),
        outbox: store.clone(),
        spool: None,
        clock,
        ids: Arc::new(SystemIds),
        worker: WorkerId::from_u128(1),
        metrics: Arc::new(metrics.unwrap()),
        counts: Arc::new(Uncounted),
    });
    Queue {
        store,
        acme,
        mina,
        job,
    }
}

impl Queue {
    async fn stored(&self) -> u64 {
        let usage = self.store.usage(&self.acme, self.mina).await.unwrap();
        usage.turn_count
    }
}

fn context() -> JobContext {
    JobContext::until(Instant::now() + Duration::from_mins(10))
}

#[tokio::test]
async fn one_run_stores_all_that_waits() {
    let queue = queue(300).await;
    let report = queue.job.run(&context()).await;
    assert!(matches!(report.outcome, Outcome::Done));
    assert_eq!(report.queue.map(|drained| drained.stored), Some(300));
    assert!(!report.is_empty());
    assert_eq!(queue.stored().await, 300);
    assert!(queue.job.run(&context()).await.is_empty());
}

#[tokio::test]
async fn a_run_that_is_told_to_stop_leaves_the_rest_to_the_next_one() {
    let queue = queue(3).await;
    let stopped = context();
    stopped.stop();
    let report = queue.job.run(&stopped).await;
    assert!(matches!(report.outcome, Outcome::Partial));
    assert_eq!(queue.stored().await, 0);
    queue.job.run(&context()).await;
    assert_eq!(queue.stored().await, 3);
}
