//! A tenant with a person, a memory that can fail, and histories over it.

use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_conversation_memory::{
    ChannelKind, ChannelScope, ConversationMemory, Limit, RecentQuery, Turn,
};
use throughline_domain::{Clock, Ids, ManualClock, SystemIds, TenantId, Timestamp, UserId};
use throughline_durable_history::{
    ConversationHistory, DurableConversationHistory, EpochBoard, FinishedTurn, HistoryConfig,
    HistoryMetrics, HistorySpool, HistoryTurn, MemoryService, MemoryWatch, Parts, TurnContext,
};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{Tenancy, TenantConfig};

use crate::flaky::{Flaky, Noted};

pub(crate) struct World {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) memory: Arc<Flaky>,
    pub(crate) outbox: Arc<Noted>,
    pub(crate) epochs: Arc<EpochBoard>,
    pub(crate) tenant: TenantId,
    pub(crate) mina: UserId,
    pub(crate) registry: Registry,
    pub(crate) metrics: HistoryMetrics,
}

pub(crate) fn sender(id: &str) -> ChannelUser {
    ChannelUser::new(PlatformKind::TelegramChat, id).unwrap()
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at(Timestamp::from_millis(1_700_000_000_000)).await
    }

    pub(crate) async fn at(now: Timestamp) -> Self {
        let clock = Arc::new(ManualClock::at(now));
        let store = InMemoryStore::new(clock.clone(), Arc::new(SystemIds));
        let tenant = TenantId::parse("acme").unwrap();
        let made = store.create_tenant(&tenant, TenantConfig::default()).await;
        made.expect("a new tenant");
        let mina = store.resolve(&tenant, &sender("42")).await.unwrap().user_id;
        let registry = Registry::new();
        Self {
            clock,
            memory: Flaky::over(store.clone()),
            store,
            outbox: Arc::default(),
            epochs: Arc::default(),
            tenant,
            mina,
            metrics: HistoryMetrics::register(&registry).unwrap(),
            registry,
        }
    }

    /// The memory and identity, without an outbox.
    pub(crate) fn service(&self) -> MemoryService {
        MemoryService::new(self.memory.clone())
            .with_identity(self.store.clone())
            .with_epochs(self.epochs.clone())
    }

    pub(crate) fn parts(&self, memory: MemoryWatch) -> Parts {
        Parts {
            channel: ChannelKind::parse("telegram-chat").unwrap(),
            memory,
            spool: None,
            metrics: self.metrics.clone(),
            clock: self.clock.clone(),
            ids: Arc::new(SystemIds),
            config: HistoryConfig::default(),
        }
    }

    pub(crate) fn history(&self) -> DurableConversationHistory {
        let watch = MemoryWatch::always(self.service());
        DurableConversationHistory::start(self.parts(watch))
    }

    pub(crate) fn history_with(&self, config: HistoryConfig) -> DurableConversationHistory {
        let watch = MemoryWatch::always(self.service());
        DurableConversationHistory::start(Parts {
            config,
            ..self.parts(watch)
        })
    }

    pub(crate) fn spooled(&self, spool: Arc<HistorySpool>) -> DurableConversationHistory {
        let watch = MemoryWatch::always(self.service());
        DurableConversationHistory::start(Parts {
            spool: Some(spool),
            config: quick(),
            ..self.parts(watch)
        })
    }

    /// A turn of Mina's.
    pub(crate) fn context(&self) -> TurnContext {
        TurnContext::of(self.tenant.clone())
            .said_by(sender("42"))
            .with_user(self.mina)
    }

    pub(crate) async fn say(&self, history: &impl ConversationHistory, scope: &str, text: &str) {
        let turn = FinishedTurn::new(text, format!("re: {text}"));
        self.context()
            .enter(async { history.append(scope, turn) })
            .await;
    }

    pub(crate) async fn get(
        &self,
        history: &impl ConversationHistory,
        scope: &str,
    ) -> Vec<HistoryTurn> {
        self.context().enter(history.get(scope)).await
    }

    pub(crate) async fn texts(
        &self,
        history: &impl ConversationHistory,
        scope: &str,
    ) -> Vec<String> {
        said(&self.get(history, scope).await)
    }

    /// What the store has of a scope, oldest first.
    pub(crate) async fn stored(&self, scope: &str) -> Vec<String> {
        let limit = Limit::new(Limit::MAX).unwrap();
        let texts = |turn: Turn| turn.user_message;
        let scope = named(scope);
        let read = self.store.history(&self.tenant, &scope, limit).await;
        read.unwrap().into_iter().map(texts).collect()
    }

    /// Everything the store has of Mina, oldest first.
    pub(crate) async fn all_stored(&self) -> Vec<Turn> {
        let mut query = RecentQuery {
            limit: Limit::new(Limit::MAX).unwrap(),
            ..RecentQuery::default()
        };
        let mut turns = Vec::new();
        loop {
            let page = self.store.recent(&self.tenant, self.mina, &query).await;
            let page = page.unwrap();
            turns.extend(page.turns);
            query.before = page.next;
            if query.before.is_none() {
                turns.reverse();
                return turns;
            }
        }
    }

    /// A series' value.
    pub(crate) fn metric(&self, name: &str, label: Option<&str>) -> i64 {
        let families = self.registry.gather();
        let family = families.iter().find(|family| family.name() == name);
        let family = family.unwrap_or_else(|| panic!("no metric {name}"));
        let series = family.get_metric().iter().find(|series| match label {
            Some(value) => series
                .get_label()
                .iter()
                .any(|label| label.value() == value),
            None => true,
        });
        let series = series.unwrap_or_else(|| panic!("no series {name} {label:?}"));
        let value = series.get_counter().get_value() + series.get_gauge().get_value();
        #[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
        let value = value as i64;
        value
    }

    pub(crate) fn dropped(&self) -> i64 {
        self.metric("ccm_outbox_local_dropped_total", None)
    }

    /// Moves both clocks.
    pub(crate) async fn pass(&self, time: Duration) {
        self.clock.advance(time);
        tokio::time::advance(time).await;
        // Timers that are due run before the test goes on.
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now().as_millis()
    }
}

/// A scope of the histories' channel.
pub(crate) fn named(scope: &str) -> ChannelScope {
    ChannelScope::new(ChannelKind::parse("telegram-chat").unwrap(), scope).unwrap()
}

pub(crate) fn said(turns: &[HistoryTurn]) -> Vec<String> {
    turns.iter().map(|turn| turn.user_message.clone()).collect()
}

/// `n` texts that tell their place.
pub(crate) fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("turn {n}")).collect()
}

/// For tests in real time: a store that is away is asked again at once.
pub(crate) fn quick() -> HistoryConfig {
    HistoryConfig {
        backoff: throughline_durable_history::Backoff {
            first: Duration::from_millis(1),
            most: Duration::from_millis(5),
        },
        ..HistoryConfig::default()
    }
}

/// Ids that never repeat, for keys.
pub(crate) fn ids() -> Arc<dyn Ids> {
    Arc::new(SystemIds)
}
