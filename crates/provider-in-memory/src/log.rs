//! Moving and removing whole stretches of a tenant's turns.

use std::sync::Arc;

use throughline_conversation_memory::{ClientMessageId, RedactionState, Usage};
use throughline_domain::{Timestamp, UserId};

use crate::state::{Log, Ordered, Row};

impl Log {
    /// Gives another user those of a user's turns that came through these accounts, or all of them,
    /// with their counters. Answers how many there were.
    pub(crate) fn give(&mut self, from: UserId, into: UserId, accounts: Option<&[UserId]>) -> u64 {
        let leaves = |row: &Row| accounts.is_none_or(|accounts| accounts.contains(&row.origin));
        let Some(log) = self.by_user.remove(&from) else {
            return 0;
        };
        let mut moved = 0;
        for (_, row) in log.turns {
            let gone = leaves(&row);
            let user = if gone { into } else { from };
            moved += u64::from(gone);
            self.put(Arc::new(Row {
                user,
                ..(*row).clone()
            }));
        }
        moved
    }

    /// Puts the row in the place of the one with its key, in every index but a cleared scope's.
    pub(crate) fn put(&mut self, row: Arc<Row>) {
        let position = row.position();
        let user = self.by_user.entry(row.user).or_default();
        user.usage.turn_count += 1;
        user.usage.byte_count += row.said.bytes();
        if row.said.redaction().state() == RedactionState::Pending {
            user.pending.insert(position);
        }
        user.turns.insert(position, row.clone());
        self.show(&row);
        self.file(&row);
        self.by_key.insert(row.said.key().clone(), row);
    }

    /// A user's counters and the keys of all their turns.
    pub(crate) fn inventory(&self, user: UserId) -> (Usage, Vec<ClientMessageId>) {
        self.by_user
            .get(&user)
            .map_or_else(Default::default, |log| {
                let keys = log.turns.values().map(|row| row.said.key().clone());
                (log.usage, keys.collect())
            })
    }

    /// Removes a user's turns from every index.
    pub(crate) fn remove(&mut self, user: UserId) {
        let Some(log) = self.by_user.remove(&user) else {
            return;
        };
        for row in log.turns.into_values() {
            self.unfile(&row);
            self.by_key.remove(row.said.key());
            self.hide(&row);
        }
    }

    /// Removes one turn from every index and takes it off its user's counters.
    pub(crate) fn take_out(&mut self, row: &Row) {
        let position = row.position();
        self.unfile(row);
        self.by_key.remove(row.said.key());
        if let Some(user) = self.by_user.get_mut(&row.user) {
            user.turns.remove(&position);
            user.pending.remove(&position);
            user.usage.turn_count -= 1;
            user.usage.byte_count -= row.said.bytes();
        }
        self.hide(row);
    }

    /// Takes the row out of its scope, and the scope away with its last row.
    fn hide(&mut self, row: &Row) {
        let scope = row.said.scope();
        if let Some(rows) = self.by_scope.get_mut(scope) {
            rows.remove(&row.position());
            if Ordered::is_empty(rows) {
                self.by_scope.remove(scope);
            }
        }
    }

    /// Gives a turn another end.
    pub(crate) fn end_at(&mut self, row: &Row, expires_at: Timestamp) {
        self.unfile(row);
        let row = Arc::new(Row {
            expires_at,
            ..row.clone()
        });
        let position = row.position();
        if let Some(turn) = self
            .by_user
            .get_mut(&row.user)
            .and_then(|user| user.turns.get_mut(&position))
        {
            *turn = row.clone();
        }
        self.show(&row);
        self.file(&row);
        self.by_key.insert(row.said.key().clone(), row);
    }

    /// Puts the row among the ends, and among those that a newer detector is to look at.
    pub(crate) fn file(&mut self, row: &Arc<Row>) {
        self.by_end.insert(row.end(), row.clone());
        if let Some(place) = row.scan_place() {
            self.by_scan.insert(place, row.clone());
        }
    }

    pub(crate) fn unfile(&mut self, row: &Row) {
        self.by_end.remove(&row.end());
        if let Some(place) = row.scan_place() {
            self.by_scan.remove(&place);
        }
    }

    /// Puts the row in the place of the one it was made from, with another result of its scan.
    pub(crate) fn rescanned(&mut self, old: &Row, new: Row) {
        self.unfile(old);
        let row = Arc::new(new);
        let position = row.position();
        let pending = row.said.redaction().state() == RedactionState::Pending;
        if let Some(user) = self.by_user.get_mut(&row.user) {
            if pending {
                user.pending.insert(position);
            } else {
                user.pending.remove(&position);
            }
            user.turns.insert(position, row.clone());
        }
        self.show(&row);
        self.file(&row);
        self.by_key.insert(row.said.key().clone(), row);
    }

    /// Puts the row into its scope's index, unless that was cleared since.
    fn show(&mut self, row: &Arc<Row>) {
        let scope = self.by_scope.get_mut(row.said.scope());
        if let Some(shown) = scope.and_then(|scope| scope.get_mut(&row.position())) {
            *shown = row.clone();
        }
    }
}
