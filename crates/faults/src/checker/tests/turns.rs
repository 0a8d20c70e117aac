//! Turns that are lost, doubled, out of order or back from the dead.

use super::*;

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
fn a_turn_that_a_follower_would_miss_is_found() {
    let late = changed(|_, store| {
        store.followed.get_mut(TENANT).unwrap().seen.remove(&2);
    });
    assert_eq!(late, [Promise::Sequence]);
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
