//! The history by key and the store by key, and what an erasure means for a key.

use std::collections::BTreeMap;

use crate::history::{Appending, Erasing, History, Id, Moment, Outcome};
use crate::store::{Row, Store};

/// A tenant and a key.
pub(super) type Key<'a> = (&'a str, &'a str);

pub(super) struct Known<'a> {
    pub(super) history: &'a History,
    pub(super) store: &'a Store,
    pub(super) turns: BTreeMap<Key<'a>, Turn<'a>>,
    pub(super) rows: BTreeMap<Key<'a>, Vec<&'a Row>>,
}

/// All that is known of one key.
pub(super) struct Turn<'a> {
    pub(super) attempts: Vec<&'a Appending>,
}

/// How an erasure of its person lies to a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// No erasure concerns it.
    Stays,
    /// It was there before one that was carried out.
    Erased(Moment),
    /// They overlap, or the erasure may not have happened.
    Open,
}

impl<'a> Known<'a> {
    pub(super) fn new(history: &'a History, store: &'a Store) -> Self {
        let mut turns: BTreeMap<Key<'a>, Turn<'a>> = BTreeMap::new();
        for append in &history.appends {
            let turn = turns.entry((&append.tenant, &append.key));
            let turn = turn.or_insert_with(|| Turn {
                attempts: Vec::new(),
            });
            turn.attempts.push(append);
        }
        let mut rows: BTreeMap<Key<'a>, Vec<&'a Row>> = BTreeMap::new();
        for row in &store.rows {
            rows.entry((&row.tenant, &row.key)).or_default().push(row);
        }
        Self {
            history,
            store,
            turns,
            rows,
        }
    }

    pub(super) fn erasures<'s>(
        &'s self,
        turn: &'s Turn<'a>,
    ) -> impl Iterator<Item = &'a Erasing> + 's {
        let (tenant, person) = (turn.tenant(), turn.person());
        let all = self.history.erasures.iter();
        all.filter(move |erasure| erasure.tenant == tenant && erasure.person == person)
    }

    /// What the erasures of its person did to a turn.
    pub(super) fn fate(&self, turn: &Turn<'a>) -> Fate {
        let mut fate = Fate::Stays;
        for erasure in self.erasures(turn) {
            match (erasure.done, turn.acknowledged()) {
                // Words from before an erasure are not taken after it; of what was only queued the
                // caller is not told that any more.
                (Some(done), _) if done < turn.first_sent() => {
                    if turn.attempts[0].dated_back && turn.stored().is_none() {
                        fate = Fate::Open;
                    }
                }
                (Some(done), Some(known)) if known < erasure.sent => return Fate::Erased(done),
                _ => fate = Fate::Open,
            }
        }
        fate
    }

    /// Whether no read may have shown it: every attempt was refused. `gone` says that it is not there any
    /// more: of a person who was erased meanwhile it can have been there before, as when the answer to its
    /// commit was lost and whoever asked again came after the erasure.
    pub(super) fn never_stored(&self, turn: &Turn<'a>) -> bool {
        let erased_meanwhile = |answered: Moment| {
            self.erasures(turn).any(|erasure| {
                erasure.sent < answered && erasure.done.is_none_or(|done| turn.first_sent() < done)
            })
        };
        turn.refused()
            && !turn.attempts.iter().any(|attempt| {
                matches!(&attempt.outcome, Outcome::Refused(code) if code == "gone")
                    && erased_meanwhile(attempt.answered)
            })
    }

    /// A moment of the round by the machine's clock, in microseconds since the epoch.
    pub(super) fn wall(&self, moment: Moment) -> i64 {
        let micros = i64::try_from(moment.as_micros()).unwrap_or(i64::MAX);
        self.history.began.saturating_add(micros)
    }
}

impl<'a> Turn<'a> {
    pub(super) fn tenant(&self) -> &'a str {
        &self.attempts[0].tenant
    }

    pub(super) fn person(&self) -> &'a str {
        &self.attempts[0].person
    }

    pub(super) fn text(&self) -> &'a str {
        &self.attempts[0].text
    }

    pub(super) fn ends(&self) -> Option<Moment> {
        self.attempts[0].ends
    }

    pub(super) fn first_sent(&self) -> Moment {
        self.attempts
            .iter()
            .map(|attempt| attempt.sent)
            .min()
            .unwrap_or_default()
    }

    /// Ids that were told, each with its user and place.
    pub(super) fn told(&self) -> impl Iterator<Item = (Id, Id, Option<u64>)> + '_ {
        self.attempts
            .iter()
            .filter_map(|attempt| match attempt.outcome {
                Outcome::Stored { id, user, seq, .. } => Some((id, user, seq)),
                _ => None,
            })
    }

    /// When the caller first knew that it is, or will be, stored.
    pub(super) fn acknowledged(&self) -> Option<Moment> {
        self.first(|outcome| matches!(outcome, Outcome::Stored { .. } | Outcome::Queued))
    }

    /// When the caller first knew that it can be read.
    pub(super) fn stored(&self) -> Option<Moment> {
        self.first(|outcome| matches!(outcome, Outcome::Stored { .. }))
    }

    fn first(&self, is: impl Fn(&Outcome) -> bool) -> Option<Moment> {
        let matching = self.attempts.iter().filter(|attempt| is(&attempt.outcome));
        matching.map(|attempt| attempt.answered).min()
    }

    /// Whether every attempt was refused.
    pub(super) fn refused(&self) -> bool {
        self.attempts
            .iter()
            .all(|attempt| matches!(attempt.outcome, Outcome::Refused(_)))
    }

    /// Every attempt with its times, as evidence.
    pub(super) fn attempts_in_short(&self) -> String {
        let attempts: Vec<String> = self
            .attempts
            .iter()
            .map(|attempt| {
                let outcome = match &attempt.outcome {
                    Outcome::Stored { seq, duplicate, .. } => {
                        format!("stored at {seq:?}, duplicate {duplicate}")
                    }
                    Outcome::Queued => "queued".to_owned(),
                    Outcome::Refused(code) => format!("refused: {code}"),
                    Outcome::Unknown(why) => format!("unknown: {why}"),
                };
                format!("{:?} to {:?} {outcome}", attempt.sent, attempt.answered)
            })
            .collect();
        attempts.join("; ")
    }
}
