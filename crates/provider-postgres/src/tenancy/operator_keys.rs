//! The keys of operators, who stand above the tenants.

use throughline_domain::{Actor, KeyId, Timestamp};
use throughline_tenancy::{
    KeyHash, KeyOwner, KeyRecord, MintedKey, Principal, Scopes, TenancyError, Token,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForOperator, Statement};
use crate::store::PostgresStore;

pub(crate) static MINT: ForOperator = ForOperator(Statement {
    name: "operator_key_mint",
    sql: "-- operator_key_mint\n\
          insert into operator_keys (key_id, actor, label, key_hash, created_at)\n\
          values ($1, $2, $3, $4, $5)",
    params: &[
        Type::UUID,
        Type::TEXT,
        Type::TEXT,
        Type::BYTEA,
        Type::TIMESTAMPTZ,
    ],
});

pub(crate) static LIST: ForOperator = ForOperator(Statement {
    name: "operator_key_list",
    sql: "-- operator_key_list\n\
          select key_id, actor, label, created_at, revoked_at\n\
          from operator_keys\n\
          order by created_at, key_id",
    params: &[],
});

pub(crate) static REVOKE: ForOperator = ForOperator(Statement {
    name: "operator_key_revoke",
    sql: "-- operator_key_revoke\n\
          update operator_keys\n\
          set revoked_at = coalesce(revoked_at, $2)\n\
          where key_id = $1\n\
          returning key_id, actor, label, created_at, revoked_at",
    params: &[Type::UUID, Type::TIMESTAMPTZ],
});

pub(crate) static AUTHENTICATE: ForOperator = ForOperator(Statement {
    name: "operator_key_authenticate",
    sql: "-- operator_key_authenticate\n\
          select actor, key_hash\n\
          from operator_keys\n\
          where key_id = $1\n\
          and revoked_at is null",
    params: &[Type::UUID],
});

pub(super) async fn mint(
    store: &PostgresStore,
    actor: &Actor,
    label: &str,
) -> Result<MintedKey, TenancyError> {
    let created_at = store.clock.now();
    let id = KeyId::new(store.ids.ulid(created_at));
    let token = Token::assemble(&KeyOwner::Operator, id, &store.ids.secret());
    let hash = token.hash();
    store
        .sessions
        .query_as_operator(
            &MINT,
            &[
                &uuid(id.as_u128()),
                &actor.as_str(),
                &label,
                &hash.as_bytes().as_slice(),
                &created_at.to_system_time(),
            ],
        )
        .await
        .map_err(|error| error.tenancy(None))?;
    let record = KeyRecord {
        id,
        label: label.to_owned(),
        scopes: Scopes::default(),
        actor: Some(actor.clone()),
        created_at,
        revoked_at: None,
    };
    Ok(MintedKey { record, token })
}

pub(super) async fn list(store: &PostgresStore) -> Result<Vec<KeyRecord>, TenancyError> {
    let rows = store.sessions.query_as_operator(&LIST, &[]).await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    rows.iter()
        .map(|row| record(row).map_err(|error| error.tenancy(None)))
        .collect()
}

pub(super) async fn revoke(store: &PostgresStore, key: KeyId) -> Result<KeyRecord, TenancyError> {
    let now = store.clock.now().to_system_time();
    let rows = store
        .sessions
        .query_as_operator(&REVOKE, &[&uuid(key.as_u128()), &now])
        .await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    let row = rows.first().ok_or(TenancyError::UnknownKey(key))?;
    record(row).map_err(|error| error.tenancy(None))
}

pub(super) async fn authenticate(
    store: &PostgresStore,
    key: KeyId,
    token: &Token,
) -> Result<Option<Principal>, TenancyError> {
    let rows = store
        .sessions
        .query_as_operator(&AUTHENTICATE, &[&uuid(key.as_u128())])
        .await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let read = || {
        let row = Reader::of(row, "operator_keys").keyed(&key);
        let hash = KeyHash::from_bytes(row.get("key_hash")?);
        Ok((hash.ok_or_else(|| row.corrupt("key_hash"))?, actor(&row)?))
    };
    let (hash, actor) = read().map_err(|error: StoreError| error.tenancy(None))?;
    Ok((hash == token.hash()).then_some(Principal::Operator { actor, key }))
}

fn record(row: &Row) -> Result<KeyRecord, StoreError> {
    let id = KeyId::from_u128(
        row.try_get::<_, Uuid>("key_id")
            .unwrap_or_default()
            .as_u128(),
    );
    let row = Reader::of(row, "operator_keys").keyed(&id);
    Ok(KeyRecord {
        id,
        label: row.get("label")?,
        scopes: Scopes::default(),
        actor: Some(actor(&row)?),
        created_at: row.time("created_at")?,
        revoked_at: row
            .get::<Option<_>>("revoked_at")?
            .map(Timestamp::from_system_time),
    })
}

fn actor(row: &Reader<'_>) -> Result<Actor, StoreError> {
    row.parsed("actor", |name| Actor::parse(name).ok())
}
