//! One scope's turns.

use std::collections::VecDeque;
use std::sync::Arc;

use throughline_conversation_memory::{ClientMessageId, ContentForm, RedactionState, Turn};
use throughline_domain::{Timestamp, TurnId, UserId};

use super::Hydration;
use crate::captured::without_nul;
use crate::{HistoryTurn, Projection};

/// A turn in the ring.
pub(crate) struct HotTurn {
    /// The channel's own id of the message.
    pub(crate) message_id: Option<String>,
    /// Under which it is written, if it is.
    pub(crate) key: Option<ClientMessageId>,
    /// Where the store has it, once that is known.
    pub(crate) id: Option<TurnId>,
    /// Whose it is, if that is known (D-09, T-29).
    pub(crate) user: Option<UserId>,
    pub(crate) at: Timestamp,
    pub(crate) user_message: Arc<str>,
    pub(crate) assistant_answer: Arc<str>,
    pub(crate) projection: Projection,
}

impl HotTurn {
    fn from_store(turn: &Turn) -> Self {
        Self {
            message_id: None,
            key: None,
            id: Some(turn.id),
            user: Some(turn.user_id),
            at: turn.created_at,
            user_message: turn.user_message.as_str().into(),
            assistant_answer: turn.assistant_answer.as_str().into(),
            projection: Projection::Redacted,
        }
    }

    /// Whether the stored turn is this one. While the store has not said under which id it has a turn,
    /// only moment and texts can tell; texts that were masked tell nothing.
    fn is(&self, stored: &Turn) -> bool {
        if let Some(id) = self.id {
            return id == stored.id;
        }
        let masked = stored.redaction.state() == RedactionState::Redacted
            || stored.form == ContentForm::Masked;
        let same_texts = is_text(&self.user_message, &stored.user_message)
            && is_text(&self.assistant_answer, &stored.assistant_answer);
        self.at == stored.created_at && (same_texts || masked)
    }

    fn shown(&self) -> HistoryTurn {
        HistoryTurn {
            user_message: self.user_message.as_ref().to_owned(),
            assistant_answer: self.assistant_answer.as_ref().to_owned(),
            timestamp_ms: self.at.as_millis(),
            projection: self.projection,
        }
    }
}

/// Whether the store's text is this one, NUL replaced (T-60).
fn is_text(here: &str, stored: &str) -> bool {
    here == stored || (here.contains('\0') && without_nul(here) == stored)
}

/// The turns, and how they are used.
#[derive(Default)]
pub(super) struct Bucket {
    turns: VecDeque<HotTurn>,
    /// The number of the last access; a larger one is a later one.
    pub(super) access: u64,
    pub(super) accessed_at: Option<Timestamp>,
    /// Whether the store was asked for what came before (T-23).
    pub(super) hydrated: bool,
}

impl Bucket {
    pub(super) fn shown(&self) -> Vec<HistoryTurn> {
        self.turns.iter().map(HotTurn::shown).collect()
    }

    /// What its texts take.
    pub(super) fn bytes(&self) -> usize {
        let texts = |turn: &HotTurn| turn.user_message.len() + turn.assistant_answer.len();
        self.turns.iter().map(texts).sum()
    }

    pub(super) fn append(&mut self, turn: HotTurn, most: usize) -> Timestamp {
        if turn.message_id.is_some() {
            let again = |known: &&HotTurn| known.message_id == turn.message_id;
            if let Some(known) = self.turns.iter().find(again) {
                return known.at;
            }
        }
        let at = turn.at;
        self.turns.push_back(turn);
        self.trim(most);
        at
    }

    /// Merges, sorts, trims (T-23). A turn that is here too stays as it was heard here.
    pub(super) fn hydrate(&mut self, read: &Hydration<'_>, after: Option<Timestamp>, most: usize) {
        let mut here: Vec<Option<HotTurn>> = self.turns.drain(..).map(Some).collect();
        let wanted = |turn: &&Turn| {
            turn.created_at >= read.not_before && after.is_none_or(|after| turn.created_at > after)
        };
        for stored in read.turns.iter().filter(wanted) {
            let known = here
                .iter_mut()
                .find(|turn| turn.as_ref().is_some_and(|turn| turn.is(stored)))
                .and_then(Option::take);
            self.turns.push_back(match known {
                Some(known) => HotTurn {
                    id: Some(stored.id),
                    ..known
                },
                None => HotTurn::from_store(stored),
            });
        }
        self.turns.extend(here.into_iter().flatten());
        // Stable: what the store says of the order of one moment stands.
        self.turns.make_contiguous().sort_by_key(|turn| turn.at);
        self.trim(most);
        self.hydrated = true;
    }

    fn trim(&mut self, most: usize) {
        while self.turns.len() > most {
            self.turns.pop_front();
        }
    }

    pub(super) fn stored(&mut self, key: &ClientMessageId, id: TurnId, user: Option<UserId>) {
        let mut turns = self.turns.iter_mut();
        if let Some(turn) = turns.find(|turn| turn.key.as_ref() == Some(key)) {
            turn.id = Some(id);
            // The survivor, when the turn was said under a merged id.
            turn.user = user.or(turn.user);
        }
    }

    pub(super) fn forget_user(&mut self, user: UserId) -> usize {
        let before = self.turns.len();
        self.turns.retain(|turn| turn.user != Some(user));
        before - self.turns.len()
    }
}
