//! Who follows the sequence: asks for what comes after the last place, again and again.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::load::Load;
use crate::store::Followed;

const REST: Duration = Duration::from_millis(100);

/// Follows every tenant of the round until it is over, straight in the database.
pub(crate) async fn follow(load: &Load) -> BTreeMap<String, Followed> {
    let names = load
        .tenants
        .iter()
        .map(|tenant| (tenant.name.clone(), Followed::default()));
    let mut followed: BTreeMap<String, Followed> = names.collect();
    while !load.over() {
        let after = followed.iter().map(|(tenant, followed)| {
            format!("(tenant_id = '{tenant}' and seq > {})", followed.last)
        });
        let after: Vec<String> = after.collect();
        let sql = format!(
            "select tenant_id, seq from cross_channel_messages where {} order by seq;",
            after.join(" or ")
        );
        let (postgres, database) = (load.stage.postgres.clone(), load.stage.database());
        let asked = tokio::task::spawn_blocking(move || postgres.psql(&database, &sql)).await;
        // A database that is away has nothing to tell.
        for line in asked.ok().and_then(Result::ok).unwrap_or_default().lines() {
            let Some((tenant, seq)) = line.split_once('|') else {
                continue;
            };
            if let (Some(followed), Ok(seq)) = (followed.get_mut(tenant), seq.parse()) {
                followed.last = seq;
                followed.seen.insert(seq);
            }
        }
        load.pause(REST).await;
    }
    followed
}
