//! An append gets in line, or among the dead letters.

use throughline_conversation_memory::{
    Enqueued, OutboxEntry, OutboxError, OutboxState, QueuedAppend,
};
use throughline_domain::{OutboxId, Timestamp};

use super::line::{Line, Waiting};

pub(super) fn enqueue(
    line: &mut Line,
    id: OutboxId,
    append: &QueuedAppend,
    buried: Option<&str>,
    now: Timestamp,
) -> Result<Enqueued, OutboxError> {
    let key = append.turn().key();
    if let Some(entry) = line.by_key.get(key).and_then(|id| line.entries.get(id)) {
        let id = entry.shown.id;
        return match entry.shown.state {
            _ if !append.repeats(entry.digest, &entry.author) => Err(OutboxError::KeyConflict(id)),
            OutboxState::Pending => Ok(Enqueued::Again(id)),
            OutboxState::DeadLetter => Ok(Enqueued::DeadLetter(id)),
        };
    }
    let shown = OutboxEntry {
        id,
        key: key.clone(),
        user: append.user(),
        state: match buried {
            Some(_) => OutboxState::DeadLetter,
            None => OutboxState::Pending,
        },
        attempts: u32::from(buried.is_some()),
        last_error: buried.map(str::to_owned),
        created_at: now,
        last_attempt_at: buried.map(|_| now),
        next_attempt_at: now,
        died_at: buried.map(|_| now),
    };
    line.by_key.insert(key.clone(), id);
    line.entries.insert(
        id,
        Waiting {
            shown,
            author: append.author().clone(),
            digest: append.turn().digest(),
            payload: append.encode(),
            lease: None,
        },
    );
    Ok(Enqueued::New(id))
}
