//! Channel user → user, making one at first sight.

use std::time::Duration;

use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, ClaimSource, Resolved};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::{Meaning, StoreError};
use crate::row::{Reader, uuid};
use crate::session::Session;
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

/// One indexed look-up: the way of nearly every call (D-20).
pub(super) static SEEN: ForTenant = ForTenant(Statement {
    name: "resolve",
    sql: include_str!("resolve.sql"),
    params: &[Type::TEXT, Type::TEXT, Type::TEXT],
});

pub(super) static FIRST_SIGHT: ForTenant = ForTenant(Statement {
    name: "resolve_first_sight",
    sql: include_str!("resolve_first_sight.sql"),
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::BOOL,
        Type::TEXT,
        Type::TIMESTAMPTZ,
    ],
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
    ],
});

/// `last_seen_at` is written at most once a minute (T-55).
const SEEN_AGAIN_AFTER: Duration = Duration::from_mins(1);
/// Each try but the first means that somebody else made or removed the identity meanwhile.
const TRIES: u32 = 5;

pub(super) async fn resolve(
    store: &PostgresStore,
    tenant: &TenantId,
    channel_user: &ChannelUser,
) -> Result<Resolved, StoreError> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        if let Some(known) = Known::find(&session, tenant, channel_user).await? {
            let now = store.clock.now();
            if known.is_outdated(channel_user, now) {
                touch(&session, tenant, channel_user, now).await?;
            }
            return Ok(Resolved {
                user_id: known.user_id,
                is_new: false,
            });
        }
        let now = store.clock.now();
        let candidate = UserId::new(store.ids.ulid(now));
        match first_sight(&session, tenant, channel_user, candidate, now).await {
            Ok(true) => {
                return Ok(Resolved {
                    user_id: candidate,
                    is_new: true,
                });
            }
            // Somebody else was first: a new statement sees their row.
            Ok(false) => {}
            Err(error) if error.meaning() == Meaning::Again => {}
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::Contended(TRIES))
}

/// What is stored of the channel user.
struct Known {
    user_id: UserId,
    display_name: Option<String>,
    email: Option<String>,
    email_verified: bool,
    last_seen_at: Timestamp,
}

impl Known {
    async fn find(
        session: &Session<'_>,
        tenant: &TenantId,
        channel_user: &ChannelUser,
    ) -> Result<Option<Self>, StoreError> {
        let id = &channel_user.id;
        let rows = session
            .bound(tenant)
            .query(&SEEN, &[&id.kind.as_str(), &id.id()])
            .await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        // The key would be a phone number on some channels: the kind is all that may be told.
        let row = Reader {
            row,
            table: "platform_identities",
            key: id.kind.to_string(),
        };
        Ok(Some(Self {
            user_id: UserId::from_u128(row.get::<Uuid>("user_id")?.as_u128()),
            display_name: row.get("display_name")?,
            email: row.get("email")?,
            email_verified: row.get("email_verified")?,
            last_seen_at: row.time("last_seen_at")?,
        }))
    }

    /// Only what was given counts: an absent name or address leaves the stored one (T-02).
    fn is_outdated(&self, given: &ChannelUser, now: Timestamp) -> bool {
        let differs = |given: Option<&str>, stored: &Option<String>| {
            given.is_some() && given != stored.as_deref()
        };
        differs(given.display_name(), &self.display_name)
            || differs(given.email(), &self.email)
            || given
                .email_verified()
                .is_some_and(|verified| verified != self.email_verified)
            || now.since(self.last_seen_at) >= SEEN_AGAIN_AFTER
    }
}

/// Makes user and identity in one transaction; `false` when the identity exists by now, and then
/// nothing is left behind.
async fn first_sight(
    session: &Session<'_>,
    tenant: &TenantId,
    channel_user: &ChannelUser,
    candidate: UserId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    session.begin().await?;
    let made = session
        .bound(tenant)
        .query(
            &FIRST_SIGHT,
            &[
                &channel_user.id.kind.as_str(),
                &channel_user.id.id(),
                &uuid(candidate.as_u128()),
                &channel_user.display_name(),
                &channel_user.email(),
                &channel_user.email_verified().unwrap_or(false),
                &ClaimSource::System.as_str(),
                &now.to_system_time(),
            ],
        )
        .await;
    match made {
        Ok(rows) if !rows.is_empty() => session.commit().await.map(|()| true),
        Ok(_) => session.rollback().await.map(|()| false),
        Err(error) => {
            session.rollback().await?;
            Err(error)
        }
    }
}

async fn touch(
    session: &Session<'_>,
    tenant: &TenantId,
    channel_user: &ChannelUser,
    now: Timestamp,
) -> Result<(), StoreError> {
    let params: [crate::session::Param<'_>; 6] = [
        &channel_user.id.kind.as_str(),
        &channel_user.id.id(),
        &channel_user.display_name(),
        &channel_user.email(),
        &channel_user.email_verified(),
        &now.to_system_time(),
    ];
    // No row: the identity was removed meanwhile. The answer was right when it was read.
    session
        .bound(tenant)
        .query(&TOUCH, &params)
        .await
        .map(|_| ())
}
