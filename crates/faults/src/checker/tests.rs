//! A history that is right, and each way in which it could be wrong.

mod people;
mod reads;
mod turns;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::history::{Appending, Erasing, History, Merging, Moment, Odd, Outcome, Reading, Shown};
use crate::store::{Counted, Followed, Row, Store};
use crate::words::words;

use super::{Promise, check};

const TENANT: &str = "acme";
const BEGAN: i64 = 1_700_000_000_000_000;

fn at(millis: u64) -> Moment {
    Duration::from_millis(millis)
}

/// An append of that person under that key, sent and answered then.
fn append(person: &str, key: &str, (sent, answered): (u64, u64), outcome: Outcome) -> Appending {
    Appending {
        tenant: TENANT.to_owned(),
        person: person.to_owned(),
        key: key.to_owned(),
        text: words(TENANT, person, key, false),
        ends: None,
        dated_back: false,
        sent: at(sent),
        answered: at(answered),
        outcome,
    }
}

fn stored(place: u64, user: u128) -> Outcome {
    Outcome::Stored {
        id: u128::from(place),
        user,
        seq: Some(place),
        duplicate: false,
    }
}

fn row(person: &str, key: &str, place: u64, user: u128) -> Row {
    Row {
        tenant: TENANT.to_owned(),
        id: u128::from(place),
        key: key.to_owned(),
        user,
        origin: user,
        seq: place,
        text: words(TENANT, person, key, false),
    }
}

fn shown(person: &str, key: &str, place: u64) -> Shown {
    Shown {
        id: u128::from(place),
        seq: place,
        text: words(TENANT, person, key, false),
        said: BEGAN + i64::try_from(place).unwrap() * 100_000,
    }
}

fn read(person: Option<&str>, sent: u64, turns: Vec<Shown>) -> Reading {
    Reading {
        tenant: TENANT.to_owned(),
        person: person.map(str::to_owned),
        sent: at(sent),
        answered: at(sent + 10),
        whole: true,
        turns,
    }
}

/// Mina said two things, which are stored, counted, read and followed; a third was refused, and of a
/// fourth nothing is known. Otto said one thing and was erased at 500 ms.
fn right() -> (History, Store) {
    let history = History {
        began: BEGAN,
        appends: vec![
            append("mina", "k1", (100, 110), stored(1, 7)),
            append("mina", "k2", (200, 210), stored(2, 7)),
            append(
                "mina",
                "k3",
                (220, 230),
                Outcome::Refused("unavailable".to_owned()),
            ),
            append("mina", "k4", (240, 250), Outcome::Unknown("cut".to_owned())),
            append("otto", "k5", (300, 310), stored(3, 8)),
        ],
        reads: vec![read(
            Some("mina"),
            600,
            vec![shown("mina", "k2", 2), shown("mina", "k1", 1)],
        )],
        erasures: vec![Erasing {
            tenant: TENANT.to_owned(),
            person: "otto".to_owned(),
            sent: at(490),
            done: Some(at(500)),
            receipt: Some(1),
        }],
        ..History::default()
    };
    let store = Store {
        rows: vec![row("mina", "k1", 1, 7), row("mina", "k2", 2, 7)],
        counted: vec![Counted {
            tenant: TENANT.to_owned(),
            user: 7,
            said: (2, 22),
            there: (2, 22),
        }],
        followed: [(
            TENANT.to_owned(),
            Followed {
                last: 3,
                seen: BTreeSet::from([1, 2, 3]),
            },
        )]
        .into(),
        waiting: Vec::new(),
    };
    (history, store)
}

/// What the checker says when the right history is changed so.
fn changed(change: impl FnOnce(&mut History, &mut Store)) -> Vec<Promise> {
    let (mut history, mut store) = right();
    change(&mut history, &mut store);
    let mut promises: Vec<Promise> = check(&history, &store)
        .into_iter()
        .map(|broken| broken.promise)
        .collect();
    promises.sort_unstable();
    promises.dedup();
    promises
}

#[test]
fn a_right_history_breaks_nothing() {
    let (history, store) = right();
    assert_eq!(check(&history, &store), []);
}

#[test]
fn an_answer_that_nothing_explains_is_found() {
    let odd = Odd {
        what: "a read".to_owned(),
        answer: "500".to_owned(),
    };
    assert_eq!(
        changed(|history, _| history.odd.push(odd)),
        [Promise::Answer]
    );
}
