//! What an append answers, and where in time a turn lands.

use std::time::Duration;

use throughline_domain::{Timestamp, TurnId, UserId};

use crate::RedactionState;

/// Whether this call stored the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// It did.
    Stored,
    /// An earlier call had; nothing was changed.
    Duplicate,
}

/// A turn is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Stored now or earlier.
    pub outcome: AppendOutcome,
    /// The turn's id, the first one for a duplicate.
    pub turn_id: TurnId,
    /// The user it is stored for: the survivor, when a merged id was given.
    pub user_id: UserId,
    /// Its place in the tenant's commit order.
    pub seq: u64,
    /// Whether default readers see it yet.
    pub redaction_state: RedactionState,
}

/// Where in time a turn lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// With this `created_at`.
    At(Timestamp),
    /// Nowhere: it was said longer ago than the tenant keeps turns.
    Expired,
}

const FARTHEST_BACK: Duration = Duration::from_hours(30 * 24);
const FARTHEST_AHEAD: Duration = Duration::from_mins(2);

/// The caller's clock decides within 30 days back and 2 minutes ahead of ours; beyond that the turn
/// lands at that edge. One older than the tenant's retention is refused (T-26).
pub fn landing_time(said_at: Option<Timestamp>, now: Timestamp, ttl: Duration) -> Landing {
    let Some(said_at) = said_at else {
        return Landing::At(now);
    };
    if said_at <= now.minus(ttl) {
        return Landing::Expired;
    }
    Landing::At(said_at.clamp(now.minus(FARTHEST_BACK.min(ttl)), now.plus(FARTHEST_AHEAD)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    // T-26, failures.md 27
    #[test]
    fn the_callers_clock_decides_within_bounds() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        let land = |said_at| landing_time(said_at, now, 90 * DAY);
        assert_eq!(land(None), Landing::At(now));
        assert_eq!(land(Some(now.minus(DAY))), Landing::At(now.minus(DAY)));
        assert_eq!(
            land(Some(now.plus(60 * DAY))),
            Landing::At(now.plus(FARTHEST_AHEAD))
        );
        assert_eq!(
            land(Some(now.minus(31 * DAY))),
            Landing::At(now.minus(30 * DAY))
        );
        assert_eq!(land(Some(now.minus(90 * DAY))), Landing::Expired);
    }

    #[test]
    fn a_short_retention_never_lets_an_expired_turn_land() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        assert_eq!(
            landing_time(Some(now.minus(2 * DAY)), now, DAY),
            Landing::Expired
        );
        let just_inside = now.minus(DAY).plus(Duration::from_micros(1));
        assert_eq!(
            landing_time(Some(just_inside), now, DAY),
            Landing::At(just_inside)
        );
    }
}
