//! What is stored in the end, and what somebody saw who followed the sequence meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use throughline_scratch_postgres::Server;

use crate::history::Id;

/// A stored turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The tenant.
    pub tenant: String,
    /// The turn.
    pub id: Id,
    /// The key.
    pub key: String,
    /// Whose it is now.
    pub user: Id,
    /// Whose it was when it was stored.
    pub origin: Id,
    /// Its place.
    pub seq: u64,
    /// The words as they were typed.
    pub text: String,
}

/// A user's counters beside what is there to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The tenant.
    pub tenant: String,
    /// The user.
    pub user: Id,
    /// Turns and bytes as the user's row says.
    pub said: (u64, u64),
    /// Turns and bytes as the turns say.
    pub there: (u64, u64),
}

/// The places of a tenant that a follower saw: it only ever asked for what comes after the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// The last place.
    pub last: u64,
    /// All of them.
    pub seen: BTreeSet<u64>,
}

/// Everything that is left of a round when nothing moves any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// The turns.
    pub rows: Vec<Row>,
    /// The counters.
    pub counted: Vec<Counted>,
    /// The followers, by tenant.
    pub followed: BTreeMap<String, Followed>,
    /// Appends that still wait or were given up, as tenant and key.
    pub waiting: Vec<(String, String)>,
}

/// The store cannot be read.
#[derive(Debug)]
pub struct Unreadable(pub String);

impl Store {
    /// Reads what is stored for those tenants; the database must be idle.
    pub fn read(postgres: &Server, database: &str, tenants: &[String]) -> Result<Self, Unreadable> {
        let list = list(tenants);
        let ask = |sql: &str| {
            postgres
                .psql(database, sql)
                .map_err(|error| Unreadable(error.to_string()))
        };
        let rows = ask(&format!(
            "select tenant_id, id, client_message_id, user_id, origin_user_id, seq, user_message \
             from cross_channel_messages where tenant_id in ({list}) order by tenant_id, seq;"
        ))?;
        let counted = ask(&format!(
            "select u.tenant_id, u.user_id, u.turn_count, u.byte_count, count(m.id), \
             coalesce(sum(m.user_message_bytes + m.assistant_bytes + m.aux_bytes), 0) \
             from users u left join cross_channel_messages m using (tenant_id, user_id) \
             where u.tenant_id in ({list}) group by 1, 2, 3, 4;"
        ))?;
        let waiting = ask(&format!(
            "select tenant_id, client_message_id from ccm_outbox where tenant_id in ({list});"
        ))?;
        Ok(Self {
            rows: each(&rows, row)?,
            counted: each(&counted, counters)?,
            followed: BTreeMap::new(),
            waiting: each(&waiting, |fields| {
                Some((fields.first()?.to_string(), fields.get(1)?.to_string()))
            })?,
        })
    }
}

/// The tenants as a list of literals; their names are ours.
pub(crate) fn list(tenants: &[String]) -> String {
    let quoted: Vec<String> = tenants.iter().map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}

fn each<T>(text: &str, read: impl Fn(&[&str]) -> Option<T>) -> Result<Vec<T>, Unreadable> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('|').collect();
        read(&fields).ok_or_else(|| Unreadable(format!("a row that is not understood: {line}")))
    };
    text.lines().map(line).collect()
}

fn row(fields: &[&str]) -> Option<Row> {
    let [tenant, id, key, user, origin, seq, text] = fields else {
        return None;
    };
    Some(Row {
        tenant: (*tenant).to_owned(),
        id: uuid(id)?,
        key: (*key).to_owned(),
        user: uuid(user)?,
        origin: uuid(origin)?,
        seq: seq.parse().ok()?,
        text: (*text).to_owned(),
    })
}

fn counters(fields: &[&str]) -> Option<Counted> {
    let [tenant, user, turns, bytes, rows, sum] = fields else {
        return None;
    };
    Some(Counted {
        tenant: (*tenant).to_owned(),
        user: uuid(user)?,
        said: (turns.parse().ok()?, bytes.parse().ok()?),
        there: (rows.parse().ok()?, sum.parse().ok()?),
    })
}

fn uuid(text: &str) -> Option<Id> {
    Id::from_str_radix(&text.replace('-', ""), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_whole_or_not_at_all() {
        let id = "00000000-0000-0000-0000-00000000000a";
        let read = each(&format!("acme|{id}|k1|{id}|{id}|7|acme p k1"), row).unwrap();
        assert_eq!((read[0].id, read[0].seq), (10, 7));
        assert!(each("acme|x", row).is_err());
    }
}
