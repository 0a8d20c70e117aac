//! Comparing counters with turns.

use throughline_conversation_memory::{Reconciled, Usage};
use throughline_domain::UserId;

use crate::state::Log;

pub(super) fn reconcile(log: &mut Log, after: Option<UserId>, users: usize) -> Reconciled {
    let mut ids: Vec<UserId> = log.by_user.keys().copied().collect();
    ids.retain(|user| after.is_none_or(|after| *user > after));
    ids.sort_unstable();
    let more = ids.len() > users;
    ids.truncate(users);
    let mut found = Reconciled {
        users: ids.len() as u64,
        next: ids.last().copied().filter(|_| more),
        ..Reconciled::default()
    };
    for user in ids {
        let Some(user) = log.by_user.get_mut(&user) else {
            continue;
        };
        let real = Usage {
            turn_count: user.turns.len() as u64,
            byte_count: user.turns.values().map(|row| row.said.bytes()).sum(),
        };
        if user.usage != real {
            found.drifted += 1;
            found.turns_off += user.usage.turn_count.abs_diff(real.turn_count);
            found.bytes_off += user.usage.byte_count.abs_diff(real.byte_count);
            user.usage = real;
        }
    }
    found
}
