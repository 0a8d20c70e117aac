//! What a read must not show, and must not leave out.

use super::*;

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
