//! A history that is right, and each way in which it could be wrong.

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
fn what_is_open_may_have_happened_or_not() {
    let with_k4 = |_: &mut History, store: &mut Store| {
        store.rows.push(row("mina", "k4", 4, 7));
    };
    // The last read then shows it or not: nobody promised it to be there.
    assert_eq!(changed(with_k4), []);
}

#[test]
fn a_lost_turn_is_found() {
    let lost = changed(|_, store| drop(store.rows.remove(1)));
    assert_eq!(lost, [Promise::Kept]);
    let queued = changed(|history, _| {
        history
            .appends
            .push(append("mina", "k6", (400, 410), Outcome::Queued));
    });
    assert_eq!(queued, [Promise::Kept]);
    let waits = |key: &'static str| {
        move |_: &mut History, store: &mut Store| {
            store.waiting.push((TENANT.to_owned(), key.to_owned()));
        }
    };
    assert_eq!(changed(waits("k4")), [Promise::Kept]);
    assert_eq!(changed(waits("k5")), [Promise::Erased]);
    assert_eq!(changed(waits("k9")), [Promise::Refused]);
    let other_words = changed(|_, store| store.rows[0].text.push('!'));
    assert_eq!(other_words, [Promise::Kept]);
}

#[test]
fn a_doubled_turn_is_found() {
    let two_rows = changed(|_, store| {
        let mut again = row("mina", "k1", 4, 7);
        again.text.push('!');
        store.rows.push(again);
    });
    assert_eq!(two_rows, [Promise::Once]);
    let two_keys = changed(|_, store| {
        let mut again = row("mina", "k4", 4, 7);
        again.text = words(TENANT, "mina", "k1", false);
        store.rows.push(again);
    });
    assert_eq!(two_keys, [Promise::Kept, Promise::Once]);
    let two_answers = changed(|history, _| {
        history
            .appends
            .push(append("mina", "k1", (205, 240), stored(4, 7)));
    });
    assert!(two_answers.contains(&Promise::Once));
    let another_id = changed(|_, store| store.rows[0].id = 99);
    assert_eq!(another_id, [Promise::Once]);
}

#[test]
fn what_was_refused_or_never_sent_and_is_stored_is_found() {
    let refused = changed(|_, store| store.rows.push(row("mina", "k3", 4, 7)));
    assert_eq!(refused, [Promise::Refused]);
    let invented = changed(|_, store| store.rows.push(row("mina", "k9", 4, 7)));
    assert_eq!(invented, [Promise::Refused]);
    let elsewhere = changed(|_, store| {
        let mut stray = row("mina", "k4", 4, 7);
        stray.tenant = "acme-corp".to_owned();
        store.rows.push(stray);
    });
    assert_eq!(elsewhere, [Promise::Refused]);
}

#[test]
fn what_comes_back_from_the_dead_is_found() {
    let stored_again = changed(|_, store| store.rows.push(row("otto", "k5", 3, 8)));
    assert_eq!(stored_again, [Promise::Erased]);
    let queued_before = changed(|history, store| {
        history
            .appends
            .push(append("otto", "k6", (400, 410), Outcome::Queued));
        store.rows.push(row("otto", "k6", 4, 9));
    });
    assert_eq!(queued_before, [Promise::Erased]);
    let shown_again = changed(|history, _| {
        history
            .reads
            .push(read(Some("otto"), 700, vec![shown("otto", "k5", 3)]));
    });
    assert_eq!(shown_again, [Promise::Read]);
}

#[test]
fn what_is_said_after_an_erasure_is_kept() {
    let lost = changed(|history, _| {
        history
            .appends
            .push(append("otto", "k6", (510, 520), stored(4, 9)));
    });
    assert_eq!(lost, [Promise::Kept]);
    let queued = changed(|history, _| {
        history
            .appends
            .push(append("otto", "k6", (510, 520), Outcome::Queued));
    });
    assert_eq!(queued, [Promise::Kept]);
    let kept = changed(|history, store| {
        history
            .appends
            .push(append("otto", "k6", (510, 520), stored(4, 9)));
        store.rows.push(row("otto", "k6", 4, 9));
    });
    assert_eq!(kept, []);
}

#[test]
fn a_read_that_shows_what_it_must_not_is_found() {
    type Change = fn(&mut History);
    let wrong: [(&str, Change); 8] = [
        ("another tenant", |history| {
            let mut other = append("mina", "k1", (100, 110), stored(9, 7));
            other.tenant = "acme-corp".to_owned();
            other.text = words("acme-corp", "mina", "k1", false);
            history.reads[0].turns[1].text.clone_from(&other.text);
            history.appends.push(Appending {
                outcome: Outcome::Unknown(String::new()),
                ..other
            });
        }),
        ("another person", |history| {
            history.reads.push(read(
                Some("mina"),
                305,
                vec![
                    shown("otto", "k5", 3),
                    shown("mina", "k2", 2),
                    shown("mina", "k1", 1),
                ],
            ));
        }),
        ("a stranger's", |history| {
            history
                .reads
                .push(read(None, 400, vec![shown("mina", "k1", 1)]));
        }),
        ("refused", |history| {
            history.reads[0].turns.insert(0, shown("mina", "k3", 5))
        }),
        ("never sent", |history| {
            history.reads[0].turns.insert(0, shown("mina", "k9", 5))
        }),
        ("not scanned yet", |history| {
            history.reads[0].turns[0]
                .text
                .push_str(" write to k2@secret.example")
        }),
        ("expired", |history| history.appends[1].ends = Some(at(550))),
        ("out of order", |history| history.reads[0].turns.reverse()),
    ];
    for (what, change) in wrong {
        assert_eq!(
            changed(|history, _| change(history)),
            [Promise::Read],
            "{what}"
        );
    }
}

#[test]
fn a_read_that_leaves_out_what_was_acknowledged_is_found() {
    let empty = changed(|history, _| history.reads[0].turns.clear());
    assert_eq!(empty, [Promise::Read]);
    let one_short = changed(|history, _| drop(history.reads[0].turns.remove(1)));
    assert_eq!(one_short, [Promise::Read]);
    let newest_missing = changed(|history, _| {
        history.reads[0].turns.remove(0);
        history.reads[0].whole = false;
    });
    assert_eq!(newest_missing, [Promise::Read]);
    let beyond_the_page = changed(|history, _| {
        history.reads[0].turns.remove(1);
        history.reads[0].whole = false;
    });
    assert_eq!(beyond_the_page, []);
}

#[test]
fn who_was_merged_sees_the_other_and_nobody_else_does() {
    let merge = Merging {
        tenant: TENANT.to_owned(),
        primary: "mina".to_owned(),
        secondary: "nils".to_owned(),
        sent: at(400),
        done: Some(at(410)),
        moved: Some(1),
        undone: None,
    };
    let with_nils = |history: &mut History, store: &mut Store| {
        history
            .appends
            .push(append("nils", "k6", (320, 330), stored(4, 9)));
        history.reads[0].turns.insert(0, shown("nils", "k6", 4));
        store.rows.push(Row {
            user: 7,
            ..row("nils", "k6", 4, 9)
        });
    };
    let merged = changed(|history, store| {
        with_nils(history, store);
        history.merges.push(merge.clone());
    });
    assert_eq!(merged, []);
    let never = changed(with_nils);
    assert_eq!(never, [Promise::Read, Promise::OnePerson]);
    let stays = changed(|history, store| {
        with_nils(history, store);
        history.merges.push(Merging {
            undone: Some(at(550)),
            ..merge.clone()
        });
    });
    assert_eq!(stays, [Promise::OnePerson]);
    let miscounted = changed(|history, store| {
        with_nils(history, store);
        history.merges.push(Merging {
            moved: Some(2),
            ..merge.clone()
        });
    });
    assert_eq!(miscounted, [Promise::Receipt]);
}

#[test]
fn places_out_of_the_order_of_answers_are_found() {
    let swapped = changed(|history, store| {
        history.reads.clear();
        history.appends[0].outcome = stored(2, 7);
        history.appends[1].outcome = stored(1, 7);
        store.rows[0].key = "k2".to_owned();
        store.rows[1].key = "k1".to_owned();
        store.rows[0].text = words(TENANT, "mina", "k2", false);
        store.rows[1].text = words(TENANT, "mina", "k1", false);
    });
    assert_eq!(swapped, [Promise::Order]);
    let twice = changed(|_, store| store.rows[1].seq = 1);
    assert_eq!(twice, [Promise::Order]);
}

#[test]
fn drifted_counters_a_false_receipt_and_a_second_user_are_found() {
    assert_eq!(
        changed(|_, store| store.counted[0].said.0 = 3),
        [Promise::Counters]
    );
    assert_eq!(
        changed(|_, store| store.counted[0].there.1 = 3),
        [Promise::Counters]
    );
    assert_eq!(
        changed(|history, _| history.erasures[0].receipt = Some(0)),
        [Promise::Receipt]
    );
    assert_eq!(
        changed(|history, _| history.erasures[0].receipt = Some(2)),
        [Promise::Receipt]
    );
    let second = changed(|history, store| {
        history.appends[1].outcome = stored(2, 9);
        (store.rows[1].user, store.rows[1].origin) = (9, 9);
    });
    assert_eq!(second, [Promise::OnePerson]);
}

#[test]
fn a_turn_that_a_follower_would_miss_is_found() {
    let late = changed(|_, store| {
        store.followed.get_mut(TENANT).unwrap().seen.remove(&2);
    });
    assert_eq!(late, [Promise::Sequence]);
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

/// Said before the erasure, sent after it: queued, it is dropped when it is drained; a stored one is kept.
#[test]
fn old_words_that_were_queued_after_an_erasure_may_be_dropped() {
    let dated = |outcome: Outcome| Appending {
        dated_back: true,
        ..append("otto", "k6", (510, 520), outcome)
    };
    let dropped = changed(|history, _| history.appends.push(dated(Outcome::Queued)));
    assert_eq!(dropped, []);
    let lost = changed(|history, _| history.appends.push(dated(stored(4, 9))));
    assert_eq!(lost, [Promise::Kept]);
}
