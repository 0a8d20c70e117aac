//! What became of leased entries.

use throughline_conversation_memory::{Next, OutboxSettlement, OutboxState, Settled};
use throughline_domain::{Timestamp, WorkerId};

use super::line::Line;

pub(super) fn settle(
    line: &mut Line,
    worker: WorkerId,
    settlements: &[OutboxSettlement],
    now: Timestamp,
) -> Settled {
    let mut settled = Settled::default();
    for settlement in settlements {
        let held = line.entries.get_mut(&settlement.id).filter(|entry| {
            let holder = entry.lease.map(|(holder, _)| holder);
            entry.shown.state == OutboxState::Pending && holder == Some(worker)
        });
        let Some(entry) = held else { continue };
        entry.lease = None;
        match settlement.next(now) {
            Next::Delete => {
                line.remove(settlement.id);
                settled.done += 1;
            }
            Next::Wait {
                attempts,
                at,
                error,
            } => {
                entry.shown.attempts = attempts;
                entry.shown.next_attempt_at = at;
                if error.is_some() {
                    entry.shown.last_error = error;
                    entry.shown.last_attempt_at = Some(now);
                }
                settled.waiting += 1;
            }
            Next::Die { attempts, error } => {
                entry.shown.attempts = attempts;
                entry.shown.next_attempt_at = now;
                entry.shown.last_error = Some(error);
                entry.shown.last_attempt_at = Some(now);
                entry.shown.state = OutboxState::DeadLetter;
                entry.shown.died_at = Some(now);
                settled.died += 1;
            }
        }
    }
    settled
}
