//! Looking at entries, putting them back in line, and letting them go.

use throughline_conversation_memory::{
    AuthorRef, OutboxEntry, OutboxQuery, OutboxState, OutboxStats, QueuedAuthor,
};
use throughline_domain::{OutboxId, Timestamp, UserId};

use super::line::{Line, Waiting};

pub(super) fn list(line: &Line, query: OutboxQuery) -> Vec<OutboxEntry> {
    let entries = line.entries.values().map(|entry| &entry.shown);
    entries
        .filter(|entry| entry.state == query.state)
        .filter(|entry| query.after.is_none_or(|after| entry.id > after))
        .take(query.limit as usize)
        .cloned()
        .collect()
}

fn is_dead(line: &Line, id: OutboxId) -> bool {
    let entry = line.entries.get(&id);
    entry.is_some_and(|entry| entry.shown.state == OutboxState::DeadLetter)
}

pub(super) fn requeue(line: &mut Line, id: OutboxId, now: Timestamp) -> Option<OutboxEntry> {
    if !is_dead(line, id) {
        return None;
    }
    let entry = &mut line.entries.get_mut(&id)?.shown;
    entry.state = OutboxState::Pending;
    entry.attempts = 0;
    entry.next_attempt_at = now;
    entry.died_at = None;
    Some(entry.clone())
}

pub(super) fn discard(line: &mut Line, id: OutboxId) -> Option<OutboxEntry> {
    if !is_dead(line, id) {
        return None;
    }
    line.remove(id).map(|entry| entry.shown)
}

pub(super) fn expire(line: &mut Line, died_before: Timestamp, limit: usize) -> u64 {
    let old = line.entries.values();
    let old = old.filter(|entry| entry.died_before(died_before));
    let ids: Vec<OutboxId> = old.map(|entry| entry.shown.id).take(limit).collect();
    line.remove_all(&ids)
}

/// Everything that waits, or died, for these people.
pub(super) fn of_people(
    line: &Line,
    users: &[UserId],
    channel_users: &[AuthorRef],
) -> Vec<OutboxId> {
    let theirs = |entry: &&Waiting| match &entry.author {
        QueuedAuthor::User(user) => users.contains(user),
        QueuedAuthor::Ref(author) => channel_users
            .iter()
            .any(|user| (&user.kind, &user.id) == (&author.kind, &author.id)),
    };
    let entries = line.entries.values().filter(theirs);
    entries.map(|entry| entry.shown.id).collect()
}

pub(super) fn stats<'a>(lines: impl Iterator<Item = &'a Line>) -> OutboxStats {
    let mut stats = OutboxStats::default();
    for entry in lines.flat_map(|line| line.entries.values()) {
        let (count, oldest, moment) = match entry.shown.died_at {
            None => (
                &mut stats.pending,
                &mut stats.oldest_pending,
                entry.shown.created_at,
            ),
            Some(died) => (&mut stats.dead, &mut stats.oldest_dead, died),
        };
        *count += 1;
        *oldest = Some(oldest.map_or(moment, |oldest| oldest.min(moment)));
    }
    stats
}
