//! One tenant's scopes: the turns, the order of access, what was cleared, what is undecided.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::ClientMessageId;
use throughline_domain::{Timestamp, TurnId, UserId};

use super::bucket::{Bucket, HotTurn};
use super::{Found, Hydration};

#[derive(Default)]
pub(super) struct Scopes {
    buckets: HashMap<Arc<str>, Bucket>,
    by_access: BTreeMap<u64, Arc<str>>,
    /// What the texts of all buckets take.
    bytes: usize,
    /// Clearings that the store has not heard of yet.
    cleared: HashMap<Arc<str>, Timestamp>,
    decisions: HashMap<Arc<str>, (u64, String)>,
}

impl Scopes {
    /// Scopes with turns.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buckets.is_empty() && self.cleared.is_empty() && self.decisions.is_empty()
    }

    /// what was idle for strictly longer is dropped here, and nowhere else.
    pub(super) fn get(
        &mut self,
        scope: &str,
        idle: Duration,
        access: u64,
        now: Timestamp,
    ) -> Found {
        let expired = |bucket: &Bucket| bucket.accessed_at.is_some_and(|at| now.since(at) > idle);
        if self.buckets.get(scope).is_some_and(expired) {
            self.drop_bucket(scope);
        }
        let Some(bucket) = self.buckets.get(scope) else {
            return Found {
                turns: Vec::new(),
                cold: true,
            };
        };
        let found = Found {
            turns: bucket.shown(),
            cold: !bucket.hydrated,
        };
        self.touch(scope, access, now);
        found
    }

    pub(super) fn is_cold(&self, scope: &str) -> bool {
        self.buckets
            .get(scope)
            .is_none_or(|bucket| !bucket.hydrated)
    }

    pub(super) fn append(
        &mut self,
        scope: &str,
        turn: HotTurn,
        most: usize,
        access: u64,
        now: Timestamp,
    ) -> Timestamp {
        let bucket = self.touch(scope, access, now);
        let before = bucket.bytes();
        let at = bucket.append(turn, most);
        let after = bucket.bytes();
        self.bytes = self.bytes + after - before;
        at
    }

    pub(super) fn hydrate(
        &mut self,
        scope: &str,
        read: &Hydration<'_>,
        most: usize,
        access: u64,
        now: Timestamp,
    ) {
        let after = self.cleared.get(scope).copied();
        let bucket = self.touch(scope, access, now);
        let before = bucket.bytes();
        bucket.hydrate(read, after, most);
        let after = bucket.bytes();
        self.bytes = self.bytes + after - before;
    }

    /// The bucket, made if need be, as the one accessed last.
    fn touch(&mut self, scope: &str, access: u64, now: Timestamp) -> &mut Bucket {
        let name = match self.buckets.get_key_value(scope) {
            Some((name, bucket)) => {
                self.by_access.remove(&bucket.access);
                Arc::clone(name)
            }
            None => Arc::from(scope),
        };
        self.by_access.insert(access, Arc::clone(&name));
        let bucket = self.buckets.entry(name).or_default();
        bucket.access = access;
        bucket.accessed_at = Some(now);
        bucket
    }

    fn drop_bucket(&mut self, scope: &str) {
        if let Some(bucket) = self.buckets.remove(scope) {
            self.by_access.remove(&bucket.access);
            self.bytes -= bucket.bytes();
        }
    }

    ///
    pub(super) fn keep_at_most(&mut self, most: usize) {
        while self.buckets.len() > most {
            self.drop_least_recent();
        }
    }

    pub(super) fn drop_least_recent(&mut self) {
        if let Some((_, scope)) = self.by_access.first_key_value() {
            let scope = Arc::clone(scope);
            self.drop_bucket(&scope);
        }
    }

    /// Every turn goes; clearings and decisions stay.
    pub(super) fn drop_turns(&mut self) {
        self.buckets.clear();
        self.by_access.clear();
        self.bytes = 0;
    }

    pub(super) fn clear(&mut self, scope: &str, until_stored: Option<Timestamp>, most: usize) {
        self.drop_bucket(scope);
        let Some(at) = until_stored else { return };
        self.cleared.insert(Arc::from(scope), at);
        if self.cleared.len() > most {
            // As long as the store is away nothing comes back anyway; bounded memory goes first.
            let oldest = self.cleared.iter().min_by_key(|(_, at)| **at);
            if let Some(scope) = oldest.map(|(scope, _)| Arc::clone(scope)) {
                self.cleared.remove(&scope);
            }
        }
    }

    pub(super) fn cleared(&mut self, scope: &str, at: Timestamp) {
        if self.cleared.get(scope).is_some_and(|known| *known <= at) {
            self.cleared.remove(scope);
        }
    }

    pub(super) fn stored(
        &mut self,
        scope: &str,
        key: &ClientMessageId,
        id: TurnId,
        user: Option<UserId>,
    ) {
        if let Some(bucket) = self.buckets.get_mut(scope) {
            bucket.stored(key, id, user);
        }
    }

    pub(super) fn forget_user(&mut self, user: UserId) -> usize {
        let buckets = self.buckets.values_mut();
        let gone = buckets.map(|bucket| bucket.forget_user(user)).sum();
        self.bytes = self.buckets.values().map(Bucket::bytes).sum();
        gone
    }

    /// Beyond `most` the one marked longest ago goes.
    pub(super) fn mark_decision(&mut self, scope: &str, topic: &str, access: u64, most: usize) {
        let marked = (access, topic.to_owned());
        self.decisions.insert(Arc::from(scope), marked);
        if self.decisions.len() > most {
            let oldest = self.decisions.iter().min_by_key(|(_, (access, _))| *access);
            if let Some(scope) = oldest.map(|(scope, _)| Arc::clone(scope)) {
                self.decisions.remove(&scope);
            }
        }
    }

    pub(super) fn decision(&self, scope: &str) -> Option<String> {
        self.decisions.get(scope).map(|(_, topic)| topic.clone())
    }

    pub(super) fn clear_decision(&mut self, scope: &str) {
        self.decisions.remove(scope);
    }
}
