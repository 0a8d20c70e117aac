//! Making room in the appending transaction: once a person is a twentieth over a cap, each turn that
//! goes in pushes the two oldest out at most (T-70).

use std::collections::BTreeMap;
use std::time::SystemTime;

use throughline_conversation_memory::Usage;
use throughline_domain::{TenantId, Timestamp, UserId};

use super::decide::Decision;
use super::seen::Seen;
use crate::error::StoreError;
use crate::retention::BEYOND;
use crate::row::{bigint, uuid};
use crate::session::{Param, Session};

/// How many turns one that goes in may push out.
const PUSHED_OUT: u64 = 2;

/// One person whose oldest turns make room.
pub(super) struct Trim<'a> {
    tenant: &'a TenantId,
    user: UserId,
    turns: i64,
    bytes: i64,
    rows: i64,
    until: SystemTime,
}

/// Who is far over a cap once this batch is in.
pub(super) fn due<'a>(decided: &[Decision<'a>], seen: &Seen, now: Timestamp) -> Vec<Trim<'a>> {
    let mut added: BTreeMap<(&'a TenantId, UserId), Usage> = BTreeMap::new();
    for decision in decided {
        if let Decision::Store(accepted) = decision {
            let usage = added
                .entry((accepted.row.tenant, accepted.user))
                .or_default();
            usage.turn_count += 1;
            usage.byte_count += accepted.row.turn.bytes();
        }
    }
    let mut trims = Vec::new();
    for ((tenant, user), added) in added {
        let Some((_, config)) = seen.tenant(tenant) else {
            continue;
        };
        let before = seen.usage(tenant, user);
        let count = far_over(before.turn_count + added.turn_count, config.turn_cap);
        let size = far_over(before.byte_count + added.byte_count, config.byte_cap);
        if count || size {
            trims.push(Trim {
                tenant,
                user,
                turns: if count {
                    bigint(config.turn_cap)
                } else {
                    i64::MAX
                },
                bytes: if size {
                    bigint(config.byte_cap)
                } else {
                    i64::MAX
                },
                rows: bigint(added.turn_count * PUSHED_OUT),
                until: now.plus(config.tombstone_life()).to_system_time(),
            });
        }
    }
    trims
}

fn far_over(have: u64, cap: u64) -> bool {
    u128::from(have) * 20 > u128::from(cap) * 21
}

pub(super) async fn make_room(
    session: &Session<'_>,
    trims: &[Trim<'_>],
    now: SystemTime,
) -> Result<(), StoreError> {
    for trim in trims {
        let user = uuid(trim.user.as_u128());
        let params: &[Param<'_>] = &[
            &user,
            &trim.turns,
            &trim.bytes,
            &trim.rows,
            &now,
            &trim.until,
        ];
        session.bound(trim.tenant).query(&BEYOND, params).await?;
    }
    Ok(())
}
