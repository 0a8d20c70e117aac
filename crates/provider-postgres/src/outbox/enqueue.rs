//! An append gets in line, or among the dead letters.

use throughline_conversation_memory::{
    AuthorRef, Cause, Enqueued, OutboxError, OutboxState, QueuedAppend, QueuedAuthor, RequestDigest,
};
use throughline_domain::{OutboxId, TenantId, UserId};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{TABLE, refused};
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(super) static ENQUEUE: ForTenant = ForTenant(Statement {
    name: "outbox_enqueue",
    sql: include_str!("outbox_enqueue.sql"),
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::BYTEA,
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT4,
        Type::TEXT,
        Type::TIMESTAMPTZ,
    ],
});

/// In a statement of its own: the one that inserts does not see whoever won (T-13).
pub(super) static FIND: ForTenant = ForTenant(Statement {
    name: "outbox_find",
    sql: "-- outbox_find\n\
          select id, request_digest, user_id, ref_kind, ref_id, state\n\
          from ccm_outbox\n\
          where tenant_id = $1\n\
          and kind = 'append_turn'\n\
          and client_message_id = $2",
    params: &[Type::TEXT, Type::TEXT],
});

/// An entry can be settled between the insert that met it and the look at it.
const TRIES: u32 = 4;

pub(super) async fn enqueue(
    store: &PostgresStore,
    tenant: &TenantId,
    append: &QueuedAppend,
    buried: Option<&str>,
) -> Result<Enqueued, OutboxError> {
    let payload = append.encode();
    for _ in 0..TRIES {
        if let Some(id) = insert(store, tenant, append, &payload, buried).await? {
            return Ok(Enqueued::New(id));
        }
        if let Some(found) = find(store, tenant, append).await? {
            return found;
        }
    }
    let cause = StoreError::Contended(TRIES);
    Err(OutboxError::Unavailable(Cause::new(cause)))
}

async fn insert(
    store: &PostgresStore,
    tenant: &TenantId,
    append: &QueuedAppend,
    payload: &str,
    buried: Option<&str>,
) -> Result<Option<OutboxId>, OutboxError> {
    let now = store.clock.now();
    let id = OutboxId::new(store.ids.ulid(now));
    let turn = append.turn();
    let user = append.user().map(|user| uuid(user.as_u128()));
    let channel_user = append.channel_user();
    let (state, attempts) = match buried {
        Some(_) => (OutboxState::DeadLetter, 1_i32),
        None => (OutboxState::Pending, 0),
    };
    let rows = store
        .sessions
        .query(
            tenant,
            &ENQUEUE,
            &[
                &uuid(id.as_u128()),
                &turn.key().as_str(),
                &turn.digest().as_bytes().as_slice(),
                &user,
                &channel_user.map(|user| user.kind.as_str()),
                &channel_user.map(|user| user.id.as_str()),
                &payload,
                &state.as_str(),
                &attempts,
                &buried,
                &now.to_system_time(),
            ],
        )
        .await
        .map_err(|error| refused(error, tenant))?;
    let said = |column| rows.iter().any(|row| row.try_get(column).unwrap_or(false));
    if said("gone") {
        return Err(OutboxError::Gone);
    }
    Ok(said("kept").then_some(id))
}

/// What stands under the key; `None` when it has just gone.
async fn find(
    store: &PostgresStore,
    tenant: &TenantId,
    append: &QueuedAppend,
) -> Result<Option<Result<Enqueued, OutboxError>>, OutboxError> {
    let key = append.turn().key().as_str();
    let rows = store.sessions.query(tenant, &FIND, &[&key]).await;
    let rows = rows.map_err(|error| refused(error, tenant))?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let row = Reader::of(row, TABLE);
    standing(&row, append)
        .map(Some)
        .map_err(|error| refused(error, tenant))
}

fn standing(
    row: &Reader<'_>,
    append: &QueuedAppend,
) -> Result<Result<Enqueued, OutboxError>, StoreError> {
    let id = OutboxId::from_u128(row.get::<Uuid>("id")?.as_u128());
    let digest = RequestDigest::from_bytes(row.get("request_digest")?)
        .ok_or_else(|| row.corrupt("request_digest"))?;
    let author = match row.get::<Option<Uuid>>("user_id")? {
        Some(user) => QueuedAuthor::User(UserId::from_u128(user.as_u128())),
        None => QueuedAuthor::Ref(AuthorRef {
            kind: row.get("ref_kind")?,
            id: row.get("ref_id")?,
            ..AuthorRef::default()
        }),
    };
    Ok(match row.parsed("state", OutboxState::parse)? {
        _ if !append.repeats(digest, &author) => Err(OutboxError::KeyConflict(id)),
        OutboxState::Pending => Ok(Enqueued::Again(id)),
        OutboxState::DeadLetter => Ok(Enqueued::DeadLetter(id)),
    })
}
