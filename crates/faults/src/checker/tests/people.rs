//! Merged people, counters and receipts.

use super::*;

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

/// Whoever asked what became of a commit, and came after the erasure, is told that the turn is gone.
#[test]
fn what_is_gone_with_its_person_may_have_been_there_before_the_erasure() {
    let told = |code: &str, sent: u64, shown_at: u64| {
        let (code, k6) = (code.to_owned(), shown("otto", "k6", 4));
        changed(move |history, _| {
            let answer = Outcome::Refused(code);
            history
                .appends
                .push(append("otto", "k6", (sent, 700), answer));
            let both = vec![k6, shown("otto", "k5", 3)];
            history.reads.push(read(Some("otto"), shown_at, both));
            history.erasures[0].receipt = Some(2);
        })
    };
    assert_eq!(told("gone", 350, 400), []);
    assert_eq!(
        told("unavailable", 350, 400),
        [Promise::Read, Promise::Receipt]
    );
    assert_eq!(told("gone", 550, 600), [Promise::Read, Promise::Receipt]);
    let still_there = changed(|history, store| {
        let gone = Outcome::Refused("gone".to_owned());
        history.appends.push(append("otto", "k6", (350, 700), gone));
        store.rows.push(row("otto", "k6", 4, 8));
    });
    assert!(still_there.contains(&Promise::Refused), "{still_there:?}");
}
