//! Claims on addresses, as rows.

use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_platform_identity::{
    Claim, ClaimEffect, ClaimState, EMAIL_NORMALIZER_VERSION, IdentityError, NormalizedEmail,
    PlatformUserId, UserStatus,
};
use tokio_postgres::types::Type;

use super::people::{self, Person, uuids};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::transaction::Abort;

pub(super) static FIND: ForTenant = ForTenant(Statement {
    name: "claim_find",
    sql: "-- claim_find\n\
          select user_id, state, last_confirmed_at\n\
          from email_claims\n\
          where tenant_id = $1\n\
          and email_normalized = $2",
    params: &[Type::TEXT, Type::TEXT],
});

pub(super) static LOCK: ForTenant = ForTenant(Statement {
    name: "claim_lock",
    sql: "-- claim_lock\n\
          select user_id, state, last_confirmed_at\n\
          from email_claims\n\
          where tenant_id = $1\n\
          and email_normalized = $2\n\
          for update",
    params: &[Type::TEXT, Type::TEXT],
});

pub(super) static MAKE: ForTenant = ForTenant(Statement {
    name: "claim_make",
    sql: "-- claim_make\n\
          insert into email_claims (\n\
          tenant_id, email_normalized, normalizer, user_id, state, verified_at, last_confirmed_at\n\
          )\n\
          values ($1, $2, $3, $4, 'live', $5, $5)\n\
          on conflict (tenant_id, email_normalized) do nothing\n\
          returning user_id",
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::INT2,
        Type::UUID,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static SET: ForTenant = ForTenant(Statement {
    name: "claim_set",
    sql: "-- claim_set\n\
          update email_claims\n\
          set user_id = $3,\n\
              state = $4,\n\
              verified_at = case when user_id = $3 then verified_at else $5 end,\n\
              last_confirmed_at = $5\n\
          where tenant_id = $1\n\
          and email_normalized = $2",
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::TIMESTAMPTZ,
    ],
});

pub(super) static LAPSE: ForTenant = ForTenant(Statement {
    name: "claim_lapse",
    sql: "-- claim_lapse\n\
          update email_claims\n\
          set state = 'lapsed'\n\
          where tenant_id = $1\n\
          and email_normalized = $2\n\
          and state = 'live'\n\
          and user_id = any($3)",
    params: &[Type::TEXT, Type::TEXT, Type::UUID_ARRAY],
});

/// A claim as it is stored: with the account that holds it.
pub(super) struct Stored {
    pub(super) account: UserId,
    pub(super) state: ClaimState,
    last_confirmed_at: Timestamp,
}

impl Stored {
    /// As the rules want it, for the person who holds it.
    pub(super) fn held_by(&self, holder: UserId, holder_ids: Vec<PlatformUserId>) -> Claim {
        Claim {
            holder,
            state: self.state,
            last_confirmed_at: self.last_confirmed_at,
            holder_ids,
        }
    }
}

pub(super) async fn read(
    session: &Session<'_>,
    tenant: &TenantId,
    statement: &'static ForTenant,
    email: &NormalizedEmail,
) -> Result<Option<Stored>, StoreError> {
    let rows = session
        .bound(tenant)
        .query(statement, &[&email.as_str()])
        .await?;
    let read = |row| {
        // The key is an address: it may not be told.
        let row = Reader::of(row, "email_claims");
        Ok(Stored {
            account: row.user("user_id")?,
            state: row.parsed("state", ClaimState::parse)?,
            last_confirmed_at: row.time("last_confirmed_at")?,
        })
    };
    rows.first().map(read).transpose()
}

/// Takes the claim on an address and its holder under lock; `None` where nobody claims it.
pub(super) async fn lock(
    session: &Session<'_>,
    tenant: &TenantId,
    email: &NormalizedEmail,
) -> Result<Option<(Stored, Person)>, Abort<IdentityError>> {
    let Some(found) = read(session, tenant, &FIND, email).await? else {
        return Ok(None);
    };
    // People before claims, as an erasure does.
    let holder = people::lock(session, tenant, &[found.account]).await?;
    let holder = holder.into_iter().flatten().next();
    let holder = holder
        .filter(|holder| holder.status == UserStatus::Active)
        .ok_or(Abort::Moved)?;
    let stored = read(session, tenant, &LOCK, email).await?;
    let stored = stored
        .filter(|stored| holder.ids.contains(&stored.account))
        .ok_or(Abort::Moved)?;
    Ok(Some((stored, holder)))
}

/// A claim on an address that nobody has claimed; somebody may have by now.
pub(super) async fn make(
    session: &Session<'_>,
    tenant: &TenantId,
    email: &NormalizedEmail,
    account: UserId,
    now: Timestamp,
) -> Result<(), Abort<IdentityError>> {
    let (account, now) = (uuid(account.as_u128()), now.to_system_time());
    let made = session
        .bound(tenant)
        .query(
            &MAKE,
            &[&email.as_str(), &EMAIL_NORMALIZER_VERSION, &account, &now],
        )
        .await?;
    if made.is_empty() {
        return Err(Abort::Moved);
    }
    Ok(())
}

/// Does to a locked claim what was decided; `account` is the one that was seen.
pub(super) async fn apply(
    session: &Session<'_>,
    tenant: &TenantId,
    (email, stored): (&NormalizedEmail, &Stored),
    effect: ClaimEffect,
    (account, now): (UserId, Timestamp),
) -> Result<(), StoreError> {
    let (account, state, at) = match effect {
        ClaimEffect::Leave => return Ok(()),
        ClaimEffect::Take => (account, ClaimState::Live, now),
        ClaimEffect::Confirm => (stored.account, ClaimState::Live, now),
        ClaimEffect::Revoke => (
            stored.account,
            ClaimState::Revoked,
            stored.last_confirmed_at,
        ),
    };
    let (account, at) = (uuid(account.as_u128()), at.to_system_time());
    let params: [crate::session::Param<'_>; 4] = [&email.as_str(), &account, &state.as_str(), &at];
    session.bound(tenant).query(&SET, &params).await.map(|_| ())
}

/// Lapses the claim on an address that one of these accounts gave up.
pub(super) async fn lapse(
    session: &Session<'_>,
    tenant: &TenantId,
    email: &NormalizedEmail,
    accounts: &[UserId],
) -> Result<(), StoreError> {
    let params: [crate::session::Param<'_>; 2] = [&email.as_str(), &uuids(accounts)];
    session
        .bound(tenant)
        .query(&LAPSE, &params)
        .await
        .map(|_| ())
}
