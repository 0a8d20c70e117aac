//! The sequence, as somebody sees it who asks again and again for what comes after the last place.

use super::known::Known;
use super::{Broken, Promise};

/// What is stored at or below the last place that a follower saw was seen by it.
pub(super) fn check(known: &Known<'_>, broken: &mut Vec<Broken>) {
    for row in &known.store.rows {
        let Some(followed) = known.store.followed.get(&row.tenant) else {
            continue;
        };
        if row.seq <= followed.last && !followed.seen.contains(&row.seq) {
            let evidence = format!(
                "{} {} at place {} came after a follower had passed it",
                row.tenant, row.key, row.seq
            );
            broken.push(Broken::new(Promise::Sequence, evidence));
        }
    }
}
