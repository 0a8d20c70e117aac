//! Who is who, what their counters say, and what an operator was told.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Merging, Moment};

use super::known::Known;
use super::{Broken, Promise};

/// Everything that a channel user said is one user's, unless they were erased or merged in between.
pub(super) fn one_user(known: &Known<'_>, broken: &mut Vec<Broken>) {
    let mut users: BTreeMap<(&str, &str), BTreeSet<u128>> = BTreeMap::new();
    for turn in known.turns.values() {
        let who = (turn.tenant(), turn.person());
        let told = turn.told().map(|(_, user, _)| user);
        users.entry(who).or_default().extend(told);
    }
    for row in &known.store.rows {
        if let Some(turn) = known.turns.get(&(row.tenant.as_str(), row.key.as_str())) {
            let who = (turn.tenant(), turn.person());
            users.entry(who).or_default().insert(row.user);
        }
    }
    let history = known.history;
    for ((tenant, person), users) in users {
        let erased = history
            .erasures
            .iter()
            .any(|erasure| erasure.tenant == tenant && erasure.person == person);
        let merged = history.merges.iter().any(|merge| {
            merge.tenant == tenant && (merge.primary == person || merge.secondary == person)
        });
        if users.len() > 1 && !erased && !merged {
            let evidence = format!("{tenant} {person} is {} users", users.len());
            broken.push(Broken::new(Promise::OnePerson, evidence));
        }
    }
    undone(known, broken);
}

/// After an undo every turn is back with the user it was stored for.
fn undone(known: &Known<'_>, broken: &mut Vec<Broken>) {
    let stands = |tenant: &str, person: &str| {
        known.history.merges.iter().any(|merge| {
            merge.tenant == tenant
                && merge.undone.is_none()
                && (merge.primary == person || merge.secondary == person)
        })
    };
    for row in &known.store.rows {
        let Some(turn) = known.turns.get(&(row.tenant.as_str(), row.key.as_str())) else {
            continue;
        };
        if row.user != row.origin && !stands(turn.tenant(), turn.person()) {
            let evidence = format!(
                "{} {} {} stays with whom it was merged into",
                row.tenant,
                turn.person(),
                row.key
            );
            broken.push(Broken::new(Promise::OnePerson, evidence));
        }
    }
}

/// Counters are COUNT and SUM.
pub(super) fn counters(known: &Known<'_>, broken: &mut Vec<Broken>) {
    for counted in known
        .store
        .counted
        .iter()
        .filter(|counted| counted.said != counted.there)
    {
        let evidence = format!(
            "{} user {:x}: the counters say {:?}, the turns {:?}",
            counted.tenant, counted.user, counted.said, counted.there
        );
        broken.push(Broken::new(Promise::Counters, evidence));
    }
}

/// A receipt counts all that was certainly there, and nothing that certainly was not.
pub(super) fn receipts(known: &Known<'_>, broken: &mut Vec<Broken>) {
    for erasure in &known.history.erasures {
        let (Some(told), Some(done)) = (erasure.receipt, erasure.done) else {
            continue;
        };
        // What an earlier erasure took is not there any more.
        let since = known
            .history
            .erasures
            .iter()
            .filter(|other| {
                other.tenant == erasure.tenant
                    && other.person == erasure.person
                    && other.sent < erasure.sent
            })
            .map(|other| (other.sent, other.done))
            .max();
        let bounds = bounds(
            known,
            (&erasure.tenant, &erasure.person),
            since,
            (erasure.sent, done),
        );
        judge(
            broken,
            &format!("{} {} erased", erasure.tenant, erasure.person),
            told,
            bounds,
        );
    }
    for merge in &known.history.merges {
        let Merging {
            tenant,
            secondary,
            sent,
            ..
        } = merge;
        let (Some(told), Some(done)) = (merge.moved, merge.done) else {
            continue;
        };
        let bounds = bounds(known, (tenant, secondary), None, (*sent, done));
        judge(
            broken,
            &format!("{tenant} {secondary} merged"),
            told,
            bounds,
        );
    }
}

fn judge(broken: &mut Vec<Broken>, what: &str, told: u64, (least, most): (u64, u64)) {
    if !(least..=most).contains(&told) {
        let evidence =
            format!("{what}: the receipt says {told} turns, there were {least} to {most}");
        broken.push(Broken::new(Promise::Receipt, evidence));
    }
}

/// How many turns a person had when something was done between two moments: those that were certainly
/// stored, and with those that may have been.
fn bounds(
    known: &Known<'_>,
    (tenant, person): (&str, &str),
    since: Option<(Moment, Option<Moment>)>,
    (sent, done): (Moment, Moment),
) -> (u64, u64) {
    let (mut least, mut most) = (0, 0);
    for turn in known
        .turns
        .values()
        .filter(|turn| turn.tenant() == tenant && turn.person() == person)
    {
        let certain = turn.stored().is_some_and(|known| known < sent)
            && turn.ends().is_none()
            && since.is_none_or(|(_, done)| done.is_some_and(|done| done < turn.first_sent()));
        let possible = turn.first_sent() < done
            && !known.never_stored(turn)
            && since.is_none_or(|(began, _)| turn.acknowledged().is_none_or(|known| known > began));
        least += u64::from(certain);
        most += u64::from(possible || certain);
    }
    (least, most)
}
