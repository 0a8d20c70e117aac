//! One tenant's entries.

use std::collections::{BTreeMap, HashMap};

use throughline_conversation_memory::{
    AuthorRef, ClientMessageId, DueTenants, Leased, OutboxEntry, OutboxLease, OutboxState,
    QueuedAuthor, RequestDigest,
};
use throughline_domain::{OutboxId, Timestamp, UserId, WorkerId};

use super::entries;

/// In the order they came, and the way from a key to one of them.
#[derive(Default)]
pub(crate) struct Line {
    pub(super) entries: BTreeMap<OutboxId, Waiting>,
    pub(super) by_key: HashMap<ClientMessageId, OutboxId>,
}

pub(super) struct Waiting {
    pub(super) shown: OutboxEntry,
    pub(super) author: QueuedAuthor,
    pub(super) digest: RequestDigest,
    pub(super) payload: String,
    pub(super) lease: Option<(WorkerId, Timestamp)>,
}

impl Waiting {
    fn is_due(&self, now: Timestamp) -> bool {
        self.shown.state == OutboxState::Pending
            && self.shown.next_attempt_at <= now
            && self.lease.is_none_or(|(_, until)| until <= now)
    }

    pub(super) fn died_before(&self, moment: Timestamp) -> bool {
        self.shown.died_at.is_some_and(|died| died < moment)
    }
}

impl Line {
    pub(super) fn has(&self, due: DueTenants, now: Timestamp) -> bool {
        self.entries.values().any(|entry| match due {
            DueTenants::Append => entry.is_due(now),
            DueTenants::Expire(before) => entry.died_before(before),
        })
    }

    pub(super) fn lease(&mut self, lease: OutboxLease, now: Timestamp) -> Vec<Leased> {
        let due = |(id, entry): (&OutboxId, &Waiting)| {
            entry
                .is_due(now)
                .then_some((entry.shown.next_attempt_at, *id))
        };
        let mut due: Vec<(Timestamp, OutboxId)> = self.entries.iter().filter_map(due).collect();
        due.sort_unstable();
        due.truncate(lease.limit as usize);
        let mut taken = Vec::with_capacity(due.len());
        for (_, id) in due {
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.lease = Some((lease.worker, now.plus(lease.lasts)));
                taken.push(Leased {
                    id,
                    attempts: entry.shown.attempts,
                    created_at: entry.shown.created_at,
                    payload: entry.payload.clone(),
                });
            }
        }
        taken.sort_by_key(|leased| (leased.created_at, leased.id));
        taken
    }

    /// The entry leaves, and its key is free.
    pub(super) fn remove(&mut self, id: OutboxId) -> Option<Waiting> {
        let entry = self.entries.remove(&id)?;
        self.by_key.remove(&entry.shown.key);
        Some(entry)
    }

    /// Everything that waits, or died, for these people.
    pub(crate) fn of_people(&self, users: &[UserId], channel_users: &[AuthorRef]) -> Vec<OutboxId> {
        entries::of_people(self, users, channel_users)
    }

    pub(crate) fn keys_of(&self, ids: &[OutboxId]) -> impl Iterator<Item = ClientMessageId> {
        let found = ids.iter().filter_map(|id| self.entries.get(id));
        found.map(|entry| entry.shown.key.clone())
    }

    pub(crate) fn remove_all(&mut self, ids: &[OutboxId]) -> u64 {
        let removed = ids.iter().filter_map(|id| self.remove(*id));
        removed.count() as u64
    }
}
