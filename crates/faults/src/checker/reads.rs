//! What a reader got.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::history::{Id, Reading, Shown};
use crate::words;

use super::known::{Fate, Known, Turn};
use super::{Broken, Promise};

/// An expiry is decided by the server's clock at some moment of the read.
const SLACK: Duration = Duration::from_millis(20);

pub(super) fn check(known: &Known<'_>, broken: &mut Vec<Broken>) {
    for read in &known.history.reads {
        let mut wrong = |what: String| {
            let who = read.person.as_deref().unwrap_or("a stranger");
            let evidence = format!("{} {who} at {:?}: {what}", read.tenant, read.sent);
            broken.push(Broken::new(Promise::Read, evidence));
        };
        for shown in &read.turns {
            if let Some(what) = shown_wrongly(known, read, shown) {
                wrong(what);
            }
        }
        if !newest_first(&read.turns) {
            wrong("the turns are out of order".to_owned());
        }
        for missing in missing(known, read) {
            wrong(missing);
        }
    }
}

fn newest_first(turns: &[Shown]) -> bool {
    turns
        .windows(2)
        .all(|two| (two[0].said, two[0].seq) > (two[1].said, two[1].seq))
}

fn shown_wrongly(known: &Known<'_>, read: &Reading, shown: &Shown) -> Option<String> {
    let text = &shown.text;
    let Some((tenant, person, key)) = words::parse(text) else {
        return Some(format!("shows words that nobody said: {text}"));
    };
    let Some(turn) = known.turns.get(&(tenant, key)) else {
        return Some(format!("shows a turn that nobody sent: {text}"));
    };
    if tenant != read.tenant {
        return Some(format!("shows another tenant's turn: {text}"));
    }
    if !may_see(known, read, person) {
        return Some(format!("shows another person's turn: {text}"));
    }
    if words::unmasked(text) {
        return Some(format!("shows what nobody has masked: {text}"));
    }
    if turn.ends().is_some_and(|ends| ends + SLACK < read.sent) {
        return Some(format!("shows an expired turn: {text}"));
    }
    if turn.first_sent() > read.answered {
        return Some(format!("shows a turn before it was sent: {text}"));
    }
    match known.fate(turn) {
        Fate::Erased(done) if done < read.sent => Some(format!("shows an erased turn: {text}")),
        _ if known.never_stored(turn) => Some(format!(
            "shows a refused turn: {text} ({})",
            turn.attempts_in_short()
        )),
        _ => None,
    }
}

/// Oneself, and whom one was ever merged with.
fn may_see(known: &Known<'_>, read: &Reading, person: &str) -> bool {
    let Some(reader) = read.person.as_deref() else {
        return false;
    };
    let merged = |one: &str, other: &str| {
        known.history.merges.iter().any(|merge| {
            merge.tenant == read.tenant
                && merge.sent < read.answered
                && merge.primary == one
                && merge.secondary == other
        })
    };
    reader == person || merged(reader, person) || merged(person, reader)
}

/// What was acknowledged before the question and is not in the answer.
fn missing(known: &Known<'_>, read: &Reading) -> Vec<String> {
    let Some(reader) = read.person.as_deref() else {
        return Vec::new();
    };
    if known.history.deferred.contains(&read.tenant) {
        return Vec::new();
    }
    let shown: BTreeSet<Id> = read.turns.iter().map(|turn| turn.id).collect();
    let oldest = read.turns.last().map(|turn| turn.said);
    let expected = |turn: &&Turn<'_>| {
        turn.tenant() == read.tenant
            && turn.person() == reader
            && turn.ends().is_none()
            && turn.stored().is_some_and(|known| known < read.sent)
            && known.fate(turn) == Fate::Stays
            // Beyond the page only what was said before its oldest turn.
            && (read.whole
                || !turn.attempts[0].dated_back
                    && oldest.is_some_and(|said| known.wall(turn.first_sent()) > said))
    };
    let turns = known.turns.values().filter(expected);
    turns
        .filter(|turn| turn.told().all(|(id, ..)| !shown.contains(&id)))
        .map(|turn| format!("does not show {}", turn.text()))
        .collect()
}
