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
