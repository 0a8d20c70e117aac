//! A channel user that was seen before.

use std::time::Duration;

use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, ClaimPolicy, Profile, Resolved};
use tokio_postgres::types::Type;

use super::policy;
use crate::error::StoreError;
use crate::row::Reader;
use crate::session::Session;
use crate::statement::{ForTenant, Statement};

pub(super) static SEEN: ForTenant = ForTenant(Statement {
    name: "resolve",
    sql: include_str!("resolve.sql"),
    params: &[Type::TEXT, Type::TEXT, Type::TEXT],
});

pub(super) static TOUCH: ForTenant = ForTenant(Statement {
    name: "resolve_touch",
    sql: include_str!("resolve_touch.sql"),
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::BOOL,
        Type::TIMESTAMPTZ,
        Type::BOOL,
    ],
});

/// `last_seen_at` is written at most once a minute (T-55).
const SEEN_AGAIN_AFTER: Duration = Duration::from_mins(1);

/// What is stored of the channel user.
pub(super) struct Known {
    pub(super) account: UserId,
    user: UserId,
    pub(super) profile: Profile,
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    /// Set where addresses join people.
    pub(super) policy: Option<ClaimPolicy>,
}

impl Known {
    pub(super) async fn find(
        session: &Session<'_>,
        tenant: &TenantId,
        who: &ChannelUser,
    ) -> Result<Option<Self>, StoreError> {
        let id = &who.id;
        let rows = session
            .bound(tenant)
            .query(&SEEN, &[&id.kind.as_str(), &id.id()])
            .await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        // The key would be a phone number on some channels: the kind is all that may be told.
        let row = Reader::of(row, "platform_identities").keyed(&id.kind);
        let joining: Option<&str> = row.get("joining")?;
        let read = |text| policy::of_config(text).ok_or_else(|| row.corrupt("joining"));
        Ok(Some(Self {
            account: row.user("account_id")?,
            user: row.user("user_id")?,
            profile: Profile {
                display_name: row.get("display_name")?,
                email: row.get("email")?,
                email_verified: row.get("email_verified")?,
                shared: row.get("shared")?,
            },
            first_seen_at: row.time("first_seen_at")?,
            last_seen_at: row.time("last_seen_at")?,
            policy: joining.map(read).transpose()?,
        }))
    }

    pub(super) fn is_outdated(&self, seen: &ChannelUser, now: Timestamp) -> bool {
        self.profile.after(seen) != self.profile || now.since(self.last_seen_at) >= SEEN_AGAIN_AFTER
    }

    /// Whether they may have been erased and come back since then. An erasure takes the identity along:
    /// one that was there before is of nobody who was erased after.
    pub(super) fn may_have_come_back_since(&self, then: Timestamp) -> bool {
        self.first_seen_at >= then
    }

    pub(super) fn resolved(&self) -> Resolved {
        Resolved {
            user_id: self.user,
            account_id: self.account,
            is_new: false,
        }
    }
}

/// Stores what was given; an absent name or address leaves the stored one (T-02). `false`: the
/// identity was removed meanwhile, and what was read of it was right when it was read.
pub(super) async fn touch(
    session: &Session<'_>,
    tenant: &TenantId,
    seen: &ChannelUser,
    known: &Known,
    now: Timestamp,
) -> Result<bool, StoreError> {
    // Being verified goes with the address; without one it stays as it is.
    let verified = seen
        .email()
        .map(|_| known.profile.after(seen).email_verified);
    let params: [crate::session::Param<'_>; 7] = [
        &seen.id.kind.as_str(),
        &seen.id.id(),
        &seen.display_name(),
        &seen.email(),
        &verified,
        &now.to_system_time(),
        &seen.shared(),
    ];
    let touched = session.bound(tenant).query(&TOUCH, &params).await?;
    Ok(!touched.is_empty())
}
