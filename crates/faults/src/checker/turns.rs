//! Acknowledged is stored once, refused is not, unknown is at most once; and in which order.

use std::collections::{BTreeMap, BTreeSet};

use super::known::{Fate, Key, Known, Turn};
use super::{Broken, Promise};

pub(super) fn stored(known: &Known<'_>, broken: &mut Vec<Broken>) {
    for (key, turn) in &known.turns {
        let rows = known.rows.get(key).map_or(&[][..], Vec::as_slice);
        let ids: BTreeSet<_> = turn.told().map(|(id, ..)| id).collect();
        if ids.len() > 1 {
            broken.push(of(Promise::Once, *key, "was answered with two ids", turn));
        }
        if rows.len() > 1 {
            broken.push(of(Promise::Once, *key, "is stored twice", turn));
        }
        let fate = known.fate(turn);
        match (rows.first(), fate) {
            (Some(_), Fate::Erased(_)) => {
                broken.push(of(
                    Promise::Erased,
                    *key,
                    "is stored after its erasure",
                    turn,
                ));
            }
            (Some(_), _) if turn.refused() => {
                broken.push(of(
                    Promise::Refused,
                    *key,
                    "was refused and is stored",
                    turn,
                ));
            }
            (Some(row), _) => {
                if row.text != turn.text() {
                    broken.push(of(Promise::Kept, *key, "is stored with other words", turn));
                }
                if fate == Fate::Stays && ids.iter().any(|id| *id != row.id) {
                    broken.push(of(Promise::Once, *key, "is stored under another id", turn));
                }
            }
            (None, Fate::Stays) if turn.acknowledged().is_some() && turn.ends().is_none() => {
                broken.push(of(
                    Promise::Kept,
                    *key,
                    "was acknowledged and is lost",
                    turn,
                ));
            }
            (None, _) => {}
        }
    }
    waiting(known, broken);
}

/// What is queued is stored in the end, unless it expired on the way; of an erased person nothing waits.
fn waiting(known: &Known<'_>, broken: &mut Vec<Broken>) {
    for (tenant, key) in &known.store.waiting {
        let key = (tenant.as_str(), key.as_str());
        let Some(turn) = known.turns.get(&key) else {
            let evidence = format!("{tenant} {} waits and nobody sent it", key.1);
            broken.push(Broken::new(Promise::Refused, evidence));
            continue;
        };
        match known.fate(turn) {
            Fate::Erased(_) => {
                broken.push(of(Promise::Erased, key, "waits after its erasure", turn));
            }
            _ if turn.ends().is_none() => {
                broken.push(of(Promise::Kept, key, "still waits, or was given up", turn));
            }
            _ => {}
        }
    }
}

/// What is stored was sent, under that tenant.
pub(super) fn unasked(known: &Known<'_>, broken: &mut Vec<Broken>) {
    for row in &known.store.rows {
        if !known
            .turns
            .contains_key(&(row.tenant.as_str(), row.key.as_str()))
        {
            let evidence = format!("{} {} is stored and nobody sent it", row.tenant, row.key);
            broken.push(Broken::new(Promise::Refused, evidence));
        }
    }
}

/// The same words are not stored under two keys or two ids, nor one place given twice.
pub(super) fn twice(known: &Known<'_>, broken: &mut Vec<Broken>) {
    let (mut texts, mut places) = (BTreeSet::new(), BTreeSet::new());
    for row in &known.store.rows {
        if !texts.insert(&row.text) {
            let evidence = format!("{} {}: its words are stored twice", row.tenant, row.key);
            broken.push(Broken::new(Promise::Once, evidence));
        }
        if !places.insert((&row.tenant, row.seq)) {
            let evidence = format!("{} place {} is given twice", row.tenant, row.seq);
            broken.push(Broken::new(Promise::Order, evidence));
        }
    }
}

/// What was acknowledged before another was first sent comes before it, in every tenant.
pub(super) fn order(known: &Known<'_>, broken: &mut Vec<Broken>) {
    let mut tenants: BTreeMap<&str, Vec<(&Key<'_>, &Turn<'_>, u64)>> = BTreeMap::new();
    for (key, turn) in &known.turns {
        let place = turn.told().find_map(|(.., seq)| seq);
        if let Some(seq) = place {
            tenants.entry(key.0).or_default().push((key, turn, seq));
        }
    }
    for turns in tenants.values_mut() {
        let mut answered: Vec<_> = turns
            .iter()
            .filter_map(|(key, turn, seq)| Some((turn.stored()?, *seq, **key)))
            .collect();
        answered.sort_unstable();
        turns.sort_by_key(|(_, turn, _)| turn.first_sent());
        let mut before = answered.into_iter().peekable();
        let mut highest = None;
        for (key, turn, seq) in turns.iter() {
            while let Some((_, place, earlier)) =
                before.next_if(|(moment, ..)| *moment < turn.first_sent())
            {
                highest = highest.max(Some((place, earlier)));
            }
            if let Some((place, earlier)) = highest
                && place >= *seq
            {
                let evidence = format!("has place {seq}, after {} with {place}", earlier.1);
                broken.push(of(Promise::Order, **key, &evidence, turn));
            }
        }
    }
}

/// The evidence with every attempt in short.
fn of(promise: Promise, key: Key<'_>, what: &str, turn: &Turn<'_>) -> Broken {
    let evidence = format!(
        "{} {} {} {what} ({})",
        key.0,
        turn.person(),
        key.1,
        turn.attempts_in_short()
    );
    Broken::new(promise, evidence)
}
