//! What waits in this process to be written: tenants apart, each in the order it came.
//!
//! Turns that nobody has tried yet and turns that the store did not take stand in one line, so that a
//! scope's order holds through an outage. The line is bounded in turns and bytes; what has to go is the
//! oldest of the tenant that has most (R-073, T-22), but never what is just being written: whether that
//! is lost is not known yet.

mod tenant_line;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use throughline_conversation_memory::ChannelScope;
use throughline_domain::{TenantId, Timestamp, UserId};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::captured::Captured;
use crate::config::Backoff;
pub(crate) use tenant_line::HOLDS;
use tenant_line::TenantLine;

/// Something to write.
#[derive(Clone)]
pub(crate) enum Work {
    Append(Arc<Captured>),
    /// The scope was cleared then.
    Clear(ChannelScope, Timestamp),
}

impl Work {
    pub(crate) fn scope(&self) -> &ChannelScope {
        match self {
            Self::Append(turn) => &turn.scope,
            Self::Clear(scope, _) => scope,
        }
    }

    fn bytes(&self) -> usize {
        const OVERHEAD: usize = 256;
        OVERHEAD
            + match self {
                Self::Append(turn) => turn.bytes(),
                Self::Clear(..) => 0,
            }
    }
}

/// What became of work that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It need not wait any more.
    Done,
    /// It failed by itself: others got through.
    Failed,
    /// Nothing got through.
    Away,
    /// It was not tried.
    Untried,
}

/// Work that was taken, and its place in the line.
pub(crate) struct Taken {
    pub(crate) number: u64,
    pub(crate) work: Work,
    /// How often it failed before.
    pub(crate) tries: u32,
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Levels {
    /// Turns and clearings nobody has tried yet.
    pub(crate) queued: usize,
    /// Those that the store did not take.
    pub(crate) failed: usize,
    pub(crate) bytes: usize,
}

impl Levels {
    pub(crate) fn entries(self) -> usize {
        self.queued + self.failed
    }
}

/// How much may wait, or be taken at once.
#[derive(Clone, Copy)]
pub(crate) struct LineLimits {
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

pub(crate) struct Line {
    limits: LineLimits,
    state: Mutex<State>,
    /// Wakes whoever writes.
    arrived: Notify,
    /// Wakes those who wait until nothing waits.
    moved: Notify,
}

#[derive(Default)]
struct State {
    tenants: HashMap<TenantId, TenantLine>,
    numbers: u64,
    levels: Levels,
}

impl Line {
    pub(crate) fn new(limits: LineLimits) -> Self {
        Self {
            limits,
            state: Mutex::default(),
            arrived: Notify::new(),
            moved: Notify::new(),
        }
    }

    /// Puts work at the end. Returns how many turns had to go for it.
    pub(crate) fn push(&self, tenant: &TenantId, work: Work) -> u64 {
        let mut state = self.state.lock();
        state.numbers += 1;
        let (number, bytes) = (state.numbers, work.bytes());
        let line = state.tenants.entry(tenant.clone()).or_default();
        line.push(number, work, bytes);
        state.levels.queued += 1;
        state.levels.bytes += bytes;
        let dropped = state.make_room(self.limits);
        drop(state);
        self.arrived.notify_one();
        dropped
    }

    /// Tenants that have something to write now, and when the next others do.
    pub(crate) fn due(&self, now: Instant) -> (Vec<TenantId>, Option<Instant>) {
        let state = self.state.lock();
        let mut due = Vec::new();
        let mut next: Option<Instant> = None;
        for (tenant, line) in state.tenants.iter().filter(|(_, line)| line.is_ready()) {
            match line.not_before() {
                Some(at) if at > now => next = Some(next.map_or(at, |next| next.min(at))),
                _ => due.push(tenant.clone()),
            }
        }
        (due, next)
    }

    /// Takes up to `most` of a tenant's work, the first whatever its size. Nobody else takes of that
    /// tenant's until [`settle`](Self::settle).
    pub(crate) fn take(&self, tenant: &TenantId, most: LineLimits) -> Vec<Taken> {
        let mut state = self.state.lock();
        let line = state.tenants.get_mut(tenant);
        line.map(|line| line.take(most)).unwrap_or_default()
    }

    /// Says what became of it, with the number of turns that had to go in the meantime. A store that is
    /// away is left alone for longer each time.
    pub(crate) fn settle(
        &self,
        tenant: &TenantId,
        fates: &[(u64, Fate)],
        backoff: Backoff,
        random: u64,
        now: Instant,
    ) -> u64 {
        let mut state = self.state.lock();
        let State {
            tenants, levels, ..
        } = &mut *state;
        if let Some(line) = tenants.get_mut(tenant) {
            line.settle(fates, levels);
            line.wait(fates, backoff, random, now);
        }
        tenants.retain(|_, line| !line.is_empty());
        let dropped = state.make_room(self.limits);
        drop(state);
        self.moved.notify_waiters();
        dropped
    }

    /// Whoever waited for the store need not any longer.
    pub(crate) fn stop_waiting(&self) {
        for line in self.state.lock().tenants.values_mut() {
            line.stop_waiting();
        }
    }

    /// Takes a user's turns out, those too that are just being written: the store refuses them by
    /// itself. Returns how many.
    pub(crate) fn forget_user(&self, tenant: &TenantId, user: UserId) -> usize {
        let mut state = self.state.lock();
        let State {
            tenants, levels, ..
        } = &mut *state;
        let line = tenants.get_mut(tenant);
        let gone = line.map_or(0, |line| line.forget_user(user, levels));
        drop(state);
        self.moved.notify_waiters();
        gone
    }

    pub(crate) fn levels(&self) -> Levels {
        self.state.lock().levels
    }

    /// Returns when there may be something to write.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Returns when nothing waits.
    pub(crate) async fn emptied(&self) {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            // Registered before the look, so that no move is missed.
            moved.as_mut().enable();
            if self.levels().entries() == 0 {
                return;
            }
            moved.await;
        }
    }
}

impl State {
    fn make_room(&mut self, limits: LineLimits) -> u64 {
        let mut dropped = 0;
        while self.levels.entries() > limits.entries || self.levels.bytes > limits.bytes {
            let droppable = self.tenants.iter_mut().filter(|(_, line)| line.has_idle());
            let Some((_, line)) = droppable.max_by_key(|(_, line)| line.len()) else {
                break;
            };
            dropped += line.drop_oldest(&mut self.levels);
        }
        dropped
    }
}
