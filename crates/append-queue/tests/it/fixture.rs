//! A store that fails on demand, a queue before it, and time that stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use prometheus::Registry;
use tempfile::TempDir;
use throughline_append_queue::{Counts, Deps, Keeper, QueueMetrics, Report, drain_outbox};
use throughline_conversation_memory::{
    AppendError, AppendQueue, Appended, AuthorRef, Cause, ChannelKind, ChannelScope,
    ClientMessageId, ConversationMemory, DueTenants, Enqueued, Leased, Limit, MemoryError, NewTurn,
    NotKept, Outbox, OutboxEntry, OutboxError, OutboxLease, OutboxQuery, OutboxSettlement,
    OutboxState, OutboxStats, QueuedAppend, QueuedAuthor, RecentPage, RecentQuery, RejectReason,
    Settled, Turn, TurnDraft, Usage,
};
use throughline_domain::{
    Clock, ManualClock, OutboxId, SystemIds, TenantId, Timestamp, UserId, WorkerId,
};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::RedactedMemory;
use throughline_spool::{Spool, SpoolConfig, SpoolKey};
use throughline_tenancy::{Tenancy, TenantConfig};
use tokio_util::sync::CancellationToken;

/// How the store fails.
#[derive(Default)]
pub(crate) struct Faults {
    /// Nothing answers, the outbox neither.
    pub(crate) away: AtomicBool,
    /// The outbox answers, appends do not.
    pub(crate) appends_fail: AtomicBool,
    /// A batch with one of these keys fails as a whole.
    pub(crate) poison: Mutex<Vec<String>>,
    /// These keys are of deleted turns.
    pub(crate) gone: Mutex<Vec<String>>,
}

struct Failing<T: ?Sized> {
    inner: Arc<T>,
    faults: Arc<Faults>,
}

fn transport(turn: &NewTurn) -> AppendError {
    AppendError::Transport {
        key: turn.key().clone(),
        cause: Cause::text("asked for by the test"),
    }
}

#[async_trait]
impl ConversationMemory for Failing<dyn ConversationMemory> {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        let is_in = |list: &Mutex<Vec<String>>, turn: &NewTurn| {
            list.lock().iter().any(|key| key == turn.key().as_str())
        };
        let faults = &self.faults;
        let fails = faults.away.load(Ordering::SeqCst)
            || faults.appends_fail.load(Ordering::SeqCst)
            || turns.iter().any(|turn| is_in(&faults.poison, turn));
        if fails {
            return turns.iter().map(|turn| Err(transport(turn))).collect();
        }
        let mut answers = Vec::new();
        for turn in turns {
            if is_in(&faults.gone, &turn) {
                let key = turn.key().clone();
                let reason = RejectReason::Gone;
                answers.push(Err(AppendError::Rejected { key, reason }));
            } else {
                answers.push(self.inner.append(tenant, turn).await);
            }
        }
        answers
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        self.inner.recent(tenant, user, query).await
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        self.inner.history(tenant, scope, limit).await
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.inner.clear(tenant, scope).await
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        self.inner.usage(tenant, user).await
    }
}

impl<T: ?Sized> Failing<T> {
    fn answers(&self) -> Result<(), OutboxError> {
        if self.faults.away.load(Ordering::SeqCst) {
            let cause = Cause::text("asked for by the test");
            return Err(OutboxError::Unavailable(cause));
        }
        Ok(())
    }
}

#[async_trait]
impl Outbox for Failing<dyn Outbox> {
    async fn enqueue(&self, t: &TenantId, a: &QueuedAppend) -> Result<Enqueued, OutboxError> {
        self.answers()?;
        self.inner.enqueue(t, a).await
    }

    async fn bury(
        &self,
        t: &TenantId,
        a: &QueuedAppend,
        reason: &str,
    ) -> Result<Enqueued, OutboxError> {
        self.answers()?;
        self.inner.bury(t, a, reason).await
    }

    async fn tenants(
        &self,
        due: DueTenants,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, OutboxError> {
        self.answers()?;
        self.inner.tenants(due, after, limit).await
    }

    async fn lease(&self, t: &TenantId, lease: OutboxLease) -> Result<Vec<Leased>, OutboxError> {
        self.answers()?;
        self.inner.lease(t, lease).await
    }

    async fn settle(
        &self,
        t: &TenantId,
        worker: WorkerId,
        all: &[OutboxSettlement],
    ) -> Result<Settled, OutboxError> {
        self.answers()?;
        self.inner.settle(t, worker, all).await
    }

    async fn list(&self, t: &TenantId, q: OutboxQuery) -> Result<Vec<OutboxEntry>, OutboxError> {
        self.answers()?;
        self.inner.list(t, q).await
    }

    async fn requeue(
        &self,
        t: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        self.answers()?;
        self.inner.requeue(t, id).await
    }

    async fn discard(
        &self,
        t: &TenantId,
        id: OutboxId,
    ) -> Result<Option<OutboxEntry>, OutboxError> {
        self.answers()?;
        self.inner.discard(t, id).await
    }

    async fn expire(&self, t: &TenantId, at: Timestamp, limit: u32) -> Result<u64, OutboxError> {
        self.answers()?;
        self.inner.expire(t, at, limit).await
    }

    async fn forget(
        &self,
        t: &TenantId,
        users: &[UserId],
        channel_users: &[AuthorRef],
    ) -> Result<u64, OutboxError> {
        self.answers()?;
        self.inner.forget(t, users, channel_users).await
    }

    async fn stats(&self) -> Result<OutboxStats, OutboxError> {
        self.answers()?;
        self.inner.stats().await
    }
}

#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) stored: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl Counts for Counted {
    fn stored(&self, _: &ChannelKind) {
        self.stored.fetch_add(1, Ordering::SeqCst);
    }

    fn failed(&self) {
        self.failed.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) struct Fixture {
    pub(crate) deps: Deps,
    pub(crate) keeper: Keeper,
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) counted: Arc<Counted>,
    pub(crate) registry: Registry,
    directory: TempDir,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::build(false).await
    }

    pub(crate) async fn with_spool() -> Self {
        Self::build(true).await
    }

    async fn build(spooled: bool) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
        let ids = Arc::new(SystemIds);
        let store = InMemoryStore::new(clock.clone(), ids.clone());
        let faults = Arc::new(Faults::default());
        let registry = Registry::new();
        let inner: Arc<dyn ConversationMemory> = store.clone();
        let memory: Arc<dyn ConversationMemory> = Arc::new(Failing {
            inner,
            faults: faults.clone(),
        });
        let memory = RedactedMemory::built_in(
            memory,
            store.clone(),
            clock.clone(),
            ids.as_ref(),
            &registry,
        );
        let memory = memory.unwrap();
        let inner: Arc<dyn Outbox> = store.clone();
        let outbox: Arc<dyn Outbox> = Arc::new(Failing {
            inner,
            faults: faults.clone(),
        });
        let outbox: Arc<dyn Outbox> = Arc::new(memory.outbox(outbox));
        let directory = tempfile::tempdir().unwrap();
        let spool = match spooled {
            true => Some(open(&directory, clock.clone()).await),
            false => None,
        };
        let metrics = QueueMetrics::register(&registry, spool.clone(), clock.clone());
        let metrics = Arc::new(metrics.unwrap());
        let counted = Arc::new(Counted::default());
        Self {
            keeper: Keeper::new(outbox.clone(), spool.clone(), metrics.clone()),
            deps: Deps {
                memory: Arc::new(memory),
                identity: store.clone(),
                tenancy: store.clone(),
                outbox,
                spool,
                clock: clock.clone(),
                ids,
                worker: WorkerId::from_u128(1),
                metrics,
                counts: counted.clone(),
            },
            store,
            clock,
            faults,
            counted,
            registry,
            directory,
        }
    }

    /// The process dies and another one opens its spool.
    pub(crate) async fn reopen(&mut self) {
        if let Some(spool) = self.deps.spool.take() {
            spool.close().await.unwrap();
        }
        self.deps.spool = Some(open(&self.directory, self.clock.clone()).await);
    }

    pub(crate) async fn tenant(&self, name: &str, config: TenantConfig) -> (TenantId, UserId) {
        let tenant = TenantId::parse(name).unwrap();
        self.store.create_tenant(&tenant, config).await.unwrap();
        let who = ChannelUser::new(PlatformKind::Custom, "mina").unwrap();
        let user = self.store.resolve(&tenant, &who).await.unwrap().user_id;
        (tenant, user)
    }

    pub(crate) async fn acme(&self) -> (TenantId, UserId) {
        self.tenant("acme", TenantConfig::default()).await
    }

    pub(crate) async fn sweep(&self) -> Report {
        drain_outbox(&self.deps, &CancellationToken::new()).await
    }

    pub(crate) fn append(&self, author: QueuedAuthor, key: &str, text: &str) -> QueuedAppend {
        QueuedAppend::new(author, self.turn(key, text), self.clock.now())
    }

    pub(crate) fn turn(&self, key: &str, text: &str) -> NewTurn {
        let kind = ChannelKind::parse("slack-user").unwrap();
        let draft = TurnDraft {
            key: ClientMessageId::parse(key).unwrap(),
            user: UserId::from_u128(0),
            scope: ChannelScope::new(kind, "C1").unwrap(),
            canvas: None,
            said_at: None,
            user_message: text.to_owned(),
            assistant_answer: String::new(),
            tool_calls: None,
            metadata: None,
        };
        draft.validate().unwrap()
    }

    /// Queues `keys`, said by that user.
    pub(crate) async fn keep(
        &self,
        tenant: &TenantId,
        user: UserId,
        keys: impl IntoIterator<Item = String>,
    ) -> Vec<Result<(), NotKept>> {
        let append = |key: String| self.append(QueuedAuthor::User(user), &key, &key);
        let appends = keys.into_iter().map(append).collect();
        self.keeper.keep(tenant, appends).await
    }

    pub(crate) async fn listed(&self, tenant: &TenantId, state: OutboxState) -> Vec<OutboxEntry> {
        let query = OutboxQuery {
            state,
            after: None,
            limit: 1_000,
        };
        self.store.list(tenant, query).await.unwrap()
    }

    pub(crate) async fn stored(&self, tenant: &TenantId, user: UserId) -> u64 {
        self.store.usage(tenant, user).await.unwrap().turn_count
    }

    pub(crate) fn wait(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// The value of a series, by its line's beginning.
    pub(crate) fn metric(&self, line: &str) -> f64 {
        let text = prometheus::TextEncoder::new()
            .encode_to_string(&self.registry.gather())
            .unwrap();
        let found = text.lines().find_map(|l| l.strip_prefix(line));
        found.expect("the series is there").trim().parse().unwrap()
    }
}

async fn open(directory: &TempDir, clock: Arc<ManualClock>) -> Spool {
    let config = SpoolConfig {
        flush_interval: Duration::ZERO,
        ..SpoolConfig::default()
    };
    let key = SpoolKey::from_bytes(std::array::from_fn(|i| u8::try_from(i).unwrap()));
    Spool::open(directory.path(), config, &key, clock, Arc::new(SystemIds))
        .await
        .unwrap()
}
