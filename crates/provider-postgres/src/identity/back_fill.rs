//! Claims for people who verified their address before the tenant joined by it (D-06).

use std::collections::HashMap;

use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    ClaimPolicy, EMAIL_NORMALIZER_VERSION, NormalizedEmail, PlatformKind, Profile, ReviewReason,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{policy, review};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::{Param, Session};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

/// The users' rows are held against merges and erasures, not against appends.
pub(super) static VERIFIED: ForTenant = ForTenant(Statement {
    name: "claim_verified",
    sql: "-- claim_verified\n\
          select u.user_id, u.merged_into, i.kind, i.email, i.first_seen_at, i.last_seen_at\n\
          from platform_identities i\n\
          join users u on u.tenant_id = i.tenant_id and u.user_id = i.user_id\n\
          where i.tenant_id = $1\n\
          and i.email_verified\n\
          and i.email is not null\n\
          and i.shared is not true\n\
          order by u.user_id\n\
          for key share of u",
    params: &[Type::TEXT],
});

pub(super) static FILL: ForTenant = ForTenant(Statement {
    name: "claim_fill",
    sql: include_str!("claim_fill.sql"),
    params: &[
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::INT2,
        Type::UUID_ARRAY,
        Type::TIMESTAMPTZ_ARRAY,
    ],
});

pub(super) static HOLDERS: ForTenant = ForTenant(Statement {
    name: "claim_holders",
    sql: "-- claim_holders\n\
          select c.email_normalized, c.user_id, coalesce(u.merged_into, u.user_id) as holder\n\
          from email_claims c\n\
          join users u on u.tenant_id = c.tenant_id and u.user_id = c.user_id\n\
          where c.tenant_id = $1\n\
          and c.email_normalized = any($2)",
    params: &[Type::TEXT, Type::TEXT_ARRAY],
});

/// One channel user with an address that counts.
struct Vouched {
    first_seen_at: Timestamp,
    account: UserId,
    root: UserId,
    email: NormalizedEmail,
    last_seen_at: Timestamp,
}

/// The oldest account that verified an address holds it; whoever else did is asked about. Nobody is
/// joined. Inside the transaction that changed the rules.
pub(crate) async fn back_fill(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    config: &str,
) -> Result<(), StoreError> {
    let Some(policy) = policy::of_config(config) else {
        return Ok(());
    };
    let rows = session.bound(tenant).query(&VERIFIED, &[]).await?;
    let read = |row| vouched(row, &policy).transpose();
    let mut all: Vec<Vouched> = rows.iter().filter_map(read).collect::<Result<_, _>>()?;
    all.sort_by_key(|one| (one.first_seen_at, one.account));
    let mut oldest: HashMap<&NormalizedEmail, &Vouched> = HashMap::new();
    for one in &all {
        oldest.entry(&one.email).or_insert(one);
    }
    let emails: Vec<&str> = oldest.keys().map(|email| email.as_str()).collect();
    let accounts: Vec<Uuid> = oldest
        .values()
        .map(|one| uuid(one.account.as_u128()))
        .collect();
    let seen: Vec<_> = oldest
        .values()
        .map(|one| one.last_seen_at.to_system_time())
        .collect();
    let claims: [Param<'_>; 4] = [&emails, &EMAIL_NORMALIZER_VERSION, &accounts, &seen];
    session.bound(tenant).query(&FILL, &claims).await?;
    ask(store, session, tenant, &all, &emails).await
}

/// Raises a review for each person with an address that somebody else holds.
async fn ask(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    all: &[Vouched],
    emails: &[&str],
) -> Result<(), StoreError> {
    let rows = session.bound(tenant).query(&HOLDERS, &[&emails]).await?;
    let mut holders: HashMap<String, (UserId, UserId)> = HashMap::new();
    for row in &rows {
        let row = Reader::of(row, "email_claims");
        let found = (row.user("user_id")?, row.user("holder")?);
        holders.insert(row.get("email_normalized")?, found);
    }
    let now = store.clock.now();
    for one in all {
        let Some(&(claimant, holder)) = holders.get(one.email.as_str()) else {
            continue;
        };
        if holder != one.root {
            let why = (ReviewReason::Collision, now);
            review::raise(store, session, tenant, (claimant, one.account), why).await?;
        }
    }
    Ok(())
}

fn vouched(row: &Row, policy: &ClaimPolicy) -> Result<Option<Vouched>, StoreError> {
    let row = Reader::of(row, "platform_identities");
    let kind: PlatformKind = row.parsed("kind", |word| word.parse().ok())?;
    let profile = Profile {
        display_name: None,
        email: row.get("email")?,
        email_verified: true,
        shared: false,
    };
    let Some(email) = policy.vouched(kind, &profile) else {
        return Ok(None);
    };
    let account: Uuid = row.get("user_id")?;
    let root: Option<Uuid> = row.get("merged_into")?;
    Ok(Some(Vouched {
        first_seen_at: row.time("first_seen_at")?,
        account: UserId::from_u128(account.as_u128()),
        root: UserId::from_u128(root.unwrap_or(account).as_u128()),
        email,
        last_seen_at: row.time("last_seen_at")?,
    }))
}
