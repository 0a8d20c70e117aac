//! `Erasure` on PostgreSQL: one transaction over every table of the catalogue.

use async_trait::async_trait;
use throughline_conversation_memory::{AuditDetail, ForgetUser};
use throughline_domain::{Actor, TenantId, Timestamp, UserId};
use throughline_erasure::{Counts, Erasure, ErasureError, Mode, Outcome, Receipt, TOMBSTONE_LIFE};
use throughline_platform_identity::UserStatus;
use tokio_postgres::types::Type;

use crate::audit::{self, Entry};
use crate::error::StoreError;
use crate::identity::people::{self, Person};
use crate::row::Reader;
use crate::session::{Param, Session};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;
use crate::transaction::{Abort, Failed, TRIES};

pub(crate) static FOR_TENANT: &[&ForTenant] = &[
    &EPOCH,
    &OUTBOX,
    &REFS,
    &CLEAR_MARKS,
    &TURNS,
    &IDENTITIES,
    &REVIEWS,
    &AUDIT,
    &USERS,
    &RAISE_EPOCH,
];

static EPOCH: ForTenant = ForTenant(Statement {
    name: "erase_epoch",
    sql: "-- erase_epoch\n\
          select erasure_epoch\n\
          from tenants\n\
          where tenant_id = $1",
    params: &[Type::TEXT],
});

static OUTBOX: ForTenant = ForTenant(Statement {
    name: "erase_outbox",
    sql: include_str!("erasure/erase_outbox.sql"),
    params: &[
        Type::TEXT,
        Type::UUID_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TIMESTAMPTZ,
    ],
});

static REFS: ForTenant = ForTenant(Statement {
    name: "erase_refs",
    sql: include_str!("erasure/erase_refs.sql"),
    params: &[
        Type::TEXT,
        Type::BYTEA_ARRAY,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
    ],
});

static CLEAR_MARKS: ForTenant = ForTenant(Statement {
    name: "erase_clear_marks",
    sql: include_str!("erasure/erase_clear_marks.sql"),
    params: &[Type::TEXT, Type::UUID_ARRAY, Type::TEXT_ARRAY],
});

static TURNS: ForTenant = ForTenant(Statement {
    name: "erase_turns",
    sql: include_str!("erasure/erase_turns.sql"),
    params: &[Type::TEXT, Type::UUID_ARRAY, Type::TIMESTAMPTZ],
});

static IDENTITIES: ForTenant = ForTenant(Statement {
    name: "erase_identities",
    sql: include_str!("erasure/erase_identities.sql"),
    params: &[Type::TEXT, Type::UUID_ARRAY],
});

/// A statement of its own, after the claims: it has to see what was committed while they were waited
/// for.
static REVIEWS: ForTenant = ForTenant(Statement {
    name: "erase_reviews",
    sql: include_str!("erasure/erase_reviews.sql"),
    params: &[Type::TEXT, Type::UUID_ARRAY],
});

static AUDIT: ForTenant = ForTenant(Statement {
    name: "erase_audit",
    sql: include_str!("erasure/erase_audit.sql"),
    params: &[Type::TEXT, Type::UUID_ARRAY, Type::TEXT_ARRAY],
});

static USERS: ForTenant = ForTenant(Statement {
    name: "erase_users",
    sql: include_str!("erasure/erase_users.sql"),
    params: &[Type::TEXT, Type::UUID_ARRAY, Type::TIMESTAMPTZ],
});

static RAISE_EPOCH: ForTenant = ForTenant(Statement {
    name: "erase_raise_epoch",
    sql: "-- erase_raise_epoch\n\
          update tenants\n\
          set erasure_epoch = erasure_epoch + 1\n\
          where tenant_id = $1\n\
          returning erasure_epoch",
    params: &[Type::TEXT],
});

#[async_trait]
impl Erasure for PostgresStore {
    async fn erase(
        &self,
        tenant: &TenantId,
        user: UserId,
        actor: &Actor,
        mode: Mode,
    ) -> Result<Receipt, ErasureError> {
        erase(self, tenant, user, actor, mode)
            .await
            .map_err(|failed| match failed {
                Failed::Refused(error) => error,
                Failed::Store(StoreError::Corrupt { table, column, row }) => {
                    ErasureError::Corrupt { table, column, row }
                }
                Failed::Store(error) => ErasureError::Unavailable(Box::new(error)),
            })
    }
}

async fn erase(
    store: &PostgresStore,
    tenant: &TenantId,
    user: UserId,
    actor: &Actor,
    mode: Mode,
) -> Result<Receipt, Failed<ErasureError>> {
    let session = store.sessions.session().await?;
    for _ in 0..TRIES {
        let now = store.clock.now();
        session.begin().await?;
        let outcome = once(store, &session, tenant, user, (actor, now)).await;
        let ended = match (mode, outcome) {
            // The rehearsal is the real run, taken back: its numbers cannot differ.
            (Mode::Rehearse, Ok((receipt, before))) => {
                session.rollback().await?;
                Some(Receipt {
                    erasure_epoch: before,
                    ..receipt
                })
            }
            (_, outcome) => session.end(outcome).await?.map(|(receipt, _)| receipt),
        };
        if let Some(receipt) = ended {
            return Ok(receipt);
        }
    }
    Err(StoreError::Contended(TRIES).into())
}

/// The receipt, and the epoch that was in force before.
async fn once(
    store: &PostgresStore,
    session: &Session<'_>,
    tenant: &TenantId,
    user: UserId,
    (actor, now): (&Actor, Timestamp),
) -> Result<(Receipt, u64), Abort<ErasureError>> {
    let rows = session.bound(tenant).query(&EPOCH, &[]).await?;
    let row = rows
        .first()
        .ok_or_else(|| Abort::Refused(ErasureError::UnknownTenant(tenant.clone())))?;
    let before = Reader::of(row, "tenants")
        .keyed(&tenant)
        .number("erasure_epoch")?;
    // The fence comes first: from here on no append of theirs gets past (D-05).
    let mut person = people::lock(session, tenant, &[user]).await?;
    let person = person.pop().flatten();
    let person = person.ok_or(Abort::Refused(ErasureError::UnknownUser(user)))?;
    if person.status == UserStatus::Forgotten {
        let nothing = Receipt {
            outcome: Outcome::NothingLeft,
            user_ids: vec![user],
            counts: Counts::default(),
            erasure_epoch: before,
        };
        return Ok((nothing, before));
    }
    // Not before the lock: whatever came while it was waited for is older than the erasure.
    let now = now.max(store.clock.now());
    let counts = delete(session, tenant, &person, now).await?;
    let rows = session.bound(tenant).query(&RAISE_EPOCH, &[]).await?;
    let epoch = Numbers(rows.first(), "tenants").get("erasure_epoch")?;
    // After the scrubbing, and without an id, or it would bring the id back (T-62).
    let detail = AuditDetail::ForgetUser(ForgetUser {
        deleted_turns: counts.deleted_turns,
        deleted_identities: counts.deleted_identities,
        deleted_audit_rows: counts.deleted_audit_rows,
        nullified_audit_rows: counts.nullified_audit_rows,
    });
    let entry = Entry {
        actor,
        user: None,
        target: None,
        detail: &detail,
        now,
    };
    audit::write(store, session, tenant, entry).await?;
    let receipt = Receipt {
        outcome: Outcome::Erased,
        user_ids: person.ids,
        counts,
        erasure_epoch: epoch,
    };
    Ok((receipt, before))
}

/// Turns before what belongs to the person, claims before reviews: whoever holds a claim of theirs
/// under lock may be about to raise a review, and is waited for.
async fn delete(
    session: &Session<'_>,
    tenant: &TenantId,
    person: &Person,
    now: Timestamp,
) -> Result<Counts, StoreError> {
    let ids = person.uuids();
    let texts: Vec<String> = person.ids.iter().map(ToString::to_string).collect();
    let (until, now) = (
        now.plus(TOMBSTONE_LIFE).to_system_time(),
        now.to_system_time(),
    );
    let bound = session.bound(tenant);
    // Before the identities go: a turn can wait under one of them, not resolved yet.
    let known = people::channel_users(session, tenant, &person.ids).await?;
    let (kinds, names): (Vec<&str>, Vec<&str>) = known
        .iter()
        .map(|known| (known.kind.as_str(), known.id()))
        .unzip();
    let waited: [Param<'_>; 4] = [&ids, &kinds, &names, &until];
    let waited = bound.query(&OUTBOX, &waited).await?;
    let refs: Vec<Vec<u8>> = known.iter().map(|id| id.digest(tenant).to_vec()).collect();
    let refs = bound.query(&REFS, &[&refs, &now, &until]).await?;
    let marks = bound.query(&CLEAR_MARKS, &[&ids, &names]).await?;
    let turns = bound.query(&TURNS, &[&ids, &until]).await?;
    let people = bound.query(&IDENTITIES, &[&ids]).await?;
    let reviews = bound.query(&REVIEWS, &[&ids]).await?;
    let audit = bound.query(&AUDIT, &[&ids, &texts]).await?;
    let by_now: [Param<'_>; 2] = [&ids, &now];
    let users = bound.query(&USERS, &by_now).await?;
    let waited = Numbers(waited.first(), "ccm_outbox");
    let turns = Numbers(turns.first(), "cross_channel_messages");
    let people = Numbers(people.first(), "platform_identities");
    let audit = Numbers(audit.first(), "ccm_audit_events");
    Ok(Counts {
        deleted_turns: turns.get("turns")?,
        deleted_bytes: turns.get("bytes")?,
        deleted_outbox: waited.get("entries")?,
        // No disk is the database's to look at.
        deleted_spooled: 0,
        tombstoned_keys: turns.get("keys")? + waited.get("keys")?,
        tombstoned_refs: refs.len() as u64,
        deleted_clear_marks: marks.len() as u64,
        deleted_identities: people.get("identities")?,
        deleted_claims: people.get("claims")?,
        deleted_merges: people.get("merges")?,
        deleted_reviews: reviews.len() as u64,
        deleted_audit_rows: audit.get("deleted")?,
        nullified_audit_rows: audit.get("nullified")?,
        barred_user_ids: users.len() as u64,
    })
}

/// The one row of counts that a statement answers.
struct Numbers<'a>(Option<&'a tokio_postgres::Row>, &'static str);

impl Numbers<'_> {
    fn get(&self, column: &'static str) -> Result<u64, StoreError> {
        let Self(Some(row), table) = *self else {
            return Ok(0);
        };
        Reader::of(row, table).number(column)
    }
}
