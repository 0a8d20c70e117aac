//! What was acknowledged is looked up.

use std::collections::HashSet;

use crate::fault::BenchError;
use crate::stage::Stage;

/// Users whose counters are not what the rows say, and keys that are there twice.
const WRONG: &str = "
select (
    select count(*) from users u left join (
        select tenant_id, user_id, count(*) as turns,
            sum(user_message_bytes + assistant_bytes + aux_bytes) as bytes
        from cross_channel_messages group by 1, 2
    ) m using (tenant_id, user_id)
    where u.turn_count <> coalesce(m.turns, 0) or u.byte_count <> coalesce(m.bytes, 0)
) || ' ' || (
    select count(*) - count(distinct (tenant_id, client_message_id)) from cross_channel_messages
);";

/// Every acknowledged turn is there once, nothing under these keys is there that was not acknowledged,
/// and each user's counters are exact. The label is what the keys begin with; `open` is how many calls may
/// have stored a turn and were not told so.
pub(crate) async fn stored_once(
    stage: &Stage,
    label: &str,
    acknowledged: Vec<u128>,
    open: usize,
) -> Result<usize, BenchError> {
    let sql =
        format!("select id from cross_channel_messages where client_message_id like '{label}%';");
    let stored = stage.programs.psql(&sql).await?;
    let stored: HashSet<u128> = stored
        .lines()
        .filter_map(|line| uuid::Uuid::parse_str(line).ok())
        .map(|id| id.as_u128())
        .collect();
    let count = acknowledged.len();
    let acknowledged: HashSet<u128> = acknowledged.into_iter().collect();
    let lost = acknowledged.difference(&stored).count();
    let unasked = stored.difference(&acknowledged).count();
    if lost > 0 || unasked > open || acknowledged.len() != count {
        let again = count - acknowledged.len();
        return Err(BenchError::Wrong(format!(
            "of {count} acknowledged turns {lost} are gone, {again} have the id of another, and {unasked} \
             are stored that were not acknowledged"
        )));
    }
    let wrong = stage.programs.psql(WRONG).await?;
    if wrong != "0 0" {
        let text = format!("users with wrong counters, and keys stored twice: {wrong}");
        return Err(BenchError::Wrong(text));
    }
    Ok(count)
}
