//! The judge: from a history and the final store alone, which promises were broken.
//!
//! It knows nothing of faults. Where a fault leaves something open (an append without an answer) every
//! way it can have gone is allowed, and nothing else.

mod gaps;
mod known;
mod people;
mod reads;
mod turns;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::history::History;
use crate::store::Store;

use self::known::Known;

/// A promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// What was acknowledged is stored.
    Kept,
    /// Nothing is stored twice.
    Once,
    /// What was refused is not stored, nor what nobody sent.
    Refused,
    /// What was erased is gone, and stays gone.
    Erased,
    /// A reader gets what is theirs, all of it, and nothing that is hidden, expired, erased or foreign.
    Read,
    /// Places follow the order of what was acknowledged.
    Order,
    /// Counters are what there is to count.
    Counters,
    /// A receipt says what was done.
    Receipt,
    /// Who follows the sequence misses nothing.
    Sequence,
    /// A channel user is one user.
    OnePerson,
    /// Every answer is one that the documents explain.
    Answer,
}

/// A promise that was broken, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub promise: Promise,
    /// What is wrong.
    pub evidence: String,
}

impl Broken {
    pub(crate) fn new(promise: Promise, evidence: impl Into<String>) -> Self {
        Self {
            promise,
            evidence: evidence.into(),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.evidence)
    }
}

/// Every broken promise, in no order that means anything.
pub fn check(history: &History, store: &Store) -> Vec<Broken> {
    let known = Known::new(history, store);
    let mut broken = Vec::new();
    turns::stored(&known, &mut broken);
    turns::unasked(&known, &mut broken);
    turns::twice(&known, &mut broken);
    turns::order(&known, &mut broken);
    reads::check(&known, &mut broken);
    people::one_user(&known, &mut broken);
    people::counters(&known, &mut broken);
    people::receipts(&known, &mut broken);
    gaps::check(&known, &mut broken);
    let odd = history.odd.iter().map(|odd| {
        let evidence = format!("{} was answered with {}", odd.what, odd.answer);
        Broken::new(Promise::Answer, evidence)
    });
    broken.extend(odd);
    broken
}
