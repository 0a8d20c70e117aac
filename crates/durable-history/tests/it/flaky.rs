//! A memory that fails as it is told to, and an outbox that does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use throughline_conversation_memory::{
    AppendError, AppendQueue, Appended, Cause, ChannelScope, ConversationMemory, Limit,
    MemoryError, NewTurn, NotKept, QueuedAppend, RecentPage, RecentQuery, Redaction, RejectReason,
    Turn, Usage,
};
use throughline_domain::{TenantId, UserId};
use tokio::sync::watch;

/// What the memory does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Up,
    /// Nothing arrives.
    Transport,
    /// Nothing that writes arrives; reads are answered.
    ReadOnly,
    /// Nothing arrives, and the answer is a timeout.
    Timeout,
    /// No answer ever, nothing arrives.
    Stall,
    /// Stored, the answer says it cannot tell.
    LoseReply,
    /// Stored, the answer says so with a warning.
    Committed,
    /// Refused.
    Reject,
    /// The memory itself is broken.
    Panic,
}

/// Over a store that has everything; what it stores is scanned and clean.
pub(crate) struct Flaky {
    inner: Arc<dyn ConversationMemory>,
    mode: watch::Sender<Mode>,
    /// A batch with one of these texts fails as a whole.
    pub(crate) poison: Mutex<Vec<String>>,
    pub(crate) appends: AtomicUsize,
    pub(crate) turns_offered: AtomicUsize,
    /// The most bytes of one batch.
    pub(crate) largest: AtomicUsize,
    pub(crate) histories: AtomicUsize,
    pub(crate) recents: AtomicUsize,
    /// Runs after a history was read and before it is answered.
    pub(crate) after_history: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Flaky {
    pub(crate) fn over(inner: Arc<dyn ConversationMemory>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            mode: watch::Sender::new(Mode::Up),
            poison: Mutex::default(),
            appends: AtomicUsize::new(0),
            turns_offered: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
            histories: AtomicUsize::new(0),
            recents: AtomicUsize::new(0),
            after_history: Mutex::new(None),
        })
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    fn mode(&self) -> Mode {
        *self.mode.borrow()
    }

    /// Reads fail as a whole: there is nothing to be half done.
    async fn reads(&self) -> Result<(), MemoryError> {
        match self.mode() {
            Mode::Transport | Mode::Timeout => Err(MemoryError::Unavailable(asked_for())),
            Mode::Stall => std::future::pending().await,
            Mode::Up
            | Mode::ReadOnly
            | Mode::LoseReply
            | Mode::Committed
            | Mode::Reject
            | Mode::Panic => Ok(()),
        }
    }

    fn is_poisoned(&self, turns: &[NewTurn]) -> bool {
        let poison = self.poison.lock();
        turns
            .iter()
            .any(|turn| poison.iter().any(|text| text == turn.user_message()))
    }
}

fn asked_for() -> Cause {
    Cause::text("asked for by the test")
}

fn spoiled(
    mode: Mode,
    turn: &NewTurn,
    answer: Result<Appended, AppendError>,
) -> Result<Appended, AppendError> {
    let key = turn.key().clone();
    let cause = asked_for();
    match (mode, answer) {
        (Mode::LoseReply, Ok(_)) => Err(AppendError::Timeout { key, cause }),
        (Mode::Committed, Ok(appended)) => Err(AppendError::Committed {
            key,
            turn_id: appended.turn_id,
            cause,
        }),
        (_, answer) => answer,
    }
}

#[async_trait]
impl ConversationMemory for Flaky {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        self.appends.fetch_add(1, Ordering::SeqCst);
        self.turns_offered.fetch_add(turns.len(), Ordering::SeqCst);
        let bytes: u64 = turns.iter().map(NewTurn::bytes).sum();
        let bytes = usize::try_from(bytes).unwrap();
        self.largest.fetch_max(bytes, Ordering::SeqCst);
        let mode = self.mode();
        let all = |error: fn(&NewTurn) -> AppendError| {
            turns.iter().map(|turn| Err(error(turn))).collect()
        };
        if mode == Mode::Stall {
            std::future::pending::<()>().await;
        }
        assert!(mode != Mode::Panic, "asked for by the test");
        let lost = matches!(mode, Mode::Transport | Mode::ReadOnly);
        if lost || self.is_poisoned(&turns) {
            return all(|turn| AppendError::Transport {
                key: turn.key().clone(),
                cause: asked_for(),
            });
        }
        if mode == Mode::Timeout {
            return all(|turn| AppendError::Timeout {
                key: turn.key().clone(),
                cause: asked_for(),
            });
        }
        if mode == Mode::Reject {
            return all(|turn| AppendError::Rejected {
                key: turn.key().clone(),
                reason: RejectReason::Unstorable,
            });
        }
        let scanned = |turn: &NewTurn| turn.clone().with_redaction(Redaction::clean(1));
        let clean = turns.iter().map(scanned).collect();
        let answers = self.inner.append_batch(tenant, clean).await;
        let both = turns.into_iter().zip(answers);
        both.map(|(turn, answer)| spoiled(mode, &turn, answer))
            .collect()
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        self.recents.fetch_add(1, Ordering::SeqCst);
        self.reads().await?;
        self.inner.recent(tenant, user, query).await
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        self.histories.fetch_add(1, Ordering::SeqCst);
        self.reads().await?;
        let turns = self.inner.history(tenant, scope, limit).await;
        if let Some(then) = self.after_history.lock().take() {
            then();
        }
        turns
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.reads().await?;
        if self.mode() == Mode::ReadOnly {
            return Err(MemoryError::Unavailable(asked_for()));
        }
        self.inner.clear(tenant, scope).await
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        self.inner.usage(tenant, user).await
    }
}

/// An outbox that writes down what it is given, or is away too.
#[derive(Default)]
pub(crate) struct Noted {
    pub(crate) away: Mutex<bool>,
    pub(crate) gone: Mutex<bool>,
    pub(crate) kept: Mutex<Vec<String>>,
}

#[async_trait]
impl AppendQueue for Noted {
    async fn keep(&self, _: &TenantId, appends: Vec<QueuedAppend>) -> Vec<Result<(), NotKept>> {
        let (away, gone) = (*self.away.lock(), *self.gone.lock());
        let keep = |append: QueuedAppend| {
            if away {
                return Err(NotKept::Unavailable {
                    perhaps_kept: false,
                    cause: asked_for(),
                });
            }
            if gone {
                return Err(NotKept::Gone);
            }
            let text = append.turn().user_message().to_owned();
            self.kept.lock().push(text);
            Ok(())
        };
        appends.into_iter().map(keep).collect()
    }
}
