//! The keys of one tenant.

use throughline_domain::{KeyId, TenantId};
use throughline_tenancy::{
    KeyHash, KeyOwner, KeyRecord, MintedKey, NewKey, Principal, Scopes, TenancyError, TenantStatus,
    Token,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::tenants;
use crate::error::StoreError;
use crate::row::{Reader, uuid};
use crate::statement::{ForTenant, Statement};
use crate::store::PostgresStore;

pub(crate) static MINT: ForTenant = ForTenant(Statement {
    name: "key_mint",
    sql: "-- key_mint\n\
          insert into access_keys (tenant_id, key_id, label, scopes, key_hash, created_at)\n\
          values ($1, $2, $3, $4, $5, $6)",
    params: &[
        Type::TEXT,
        Type::UUID,
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::BYTEA,
        Type::TIMESTAMPTZ,
    ],
});

pub(crate) static LIST: ForTenant = ForTenant(Statement {
    name: "key_list",
    sql: "-- key_list\n\
          select k.key_id, k.label, k.scopes, k.created_at, k.revoked_at\n\
          from tenants t\n\
          left join access_keys k on k.tenant_id = t.tenant_id\n\
          where t.tenant_id = $1\n\
          order by k.created_at, k.key_id",
    params: &[Type::TEXT],
});

pub(crate) static REVOKE: ForTenant = ForTenant(Statement {
    name: "key_revoke",
    sql: "-- key_revoke\n\
          update access_keys\n\
          set revoked_at = coalesce(revoked_at, $3)\n\
          where tenant_id = $1\n\
          and key_id = $2\n\
          returning key_id, label, scopes, created_at, revoked_at",
    params: &[Type::TEXT, Type::UUID, Type::TIMESTAMPTZ],
});

pub(crate) static AUTHENTICATE: ForTenant = ForTenant(Statement {
    name: "key_authenticate",
    sql: "-- key_authenticate\n\
          select k.key_id, k.scopes, k.key_hash, t.status\n\
          from access_keys k\n\
          join tenants t on t.tenant_id = k.tenant_id\n\
          where k.tenant_id = $1\n\
          and k.key_id = $2\n\
          and k.revoked_at is null",
    params: &[Type::TEXT, Type::UUID],
});

pub(super) async fn mint(
    store: &PostgresStore,
    tenant: &TenantId,
    NewKey { label, scopes }: NewKey,
) -> Result<MintedKey, TenancyError> {
    let created_at = store.clock.now();
    let id = KeyId::new(store.ids.ulid(created_at));
    let owner = KeyOwner::Tenant(tenant.clone());
    let token = Token::assemble(&owner, id, &store.ids.secret());
    let hash = token.hash();
    let words: Vec<&str> = scopes
        .iter()
        .map(throughline_tenancy::Scope::as_str)
        .collect();
    store
        .sessions
        .query(
            tenant,
            &MINT,
            &[
                &uuid(id.as_u128()),
                &label,
                &words,
                &hash.as_bytes().as_slice(),
                &created_at.to_system_time(),
            ],
        )
        .await
        .map_err(|error| error.tenancy(Some(tenant)))?;
    let record = KeyRecord {
        id,
        label,
        scopes,
        actor: None,
        created_at,
        revoked_at: None,
    };
    Ok(MintedKey { record, token })
}

pub(super) async fn list(
    store: &PostgresStore,
    tenant: &TenantId,
) -> Result<Vec<KeyRecord>, TenancyError> {
    let rows = store.sessions.query(tenant, &LIST, &[]).await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    if rows.is_empty() {
        return Err(TenancyError::UnknownTenant(tenant.clone()));
    }
    // A tenant without keys is one row of nulls.
    let keys = rows
        .iter()
        .filter(|row| matches!(row.try_get::<_, Option<Uuid>>(0), Ok(Some(_))));
    keys.map(|row| record(row).map_err(|error| error.tenancy(None)))
        .collect()
}

pub(super) async fn revoke(
    store: &PostgresStore,
    tenant: &TenantId,
    key: KeyId,
) -> Result<KeyRecord, TenancyError> {
    let now = store.clock.now().to_system_time();
    let rows = store
        .sessions
        .query(tenant, &REVOKE, &[&uuid(key.as_u128()), &now])
        .await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    if let Some(row) = rows.first() {
        return record(row).map_err(|error| error.tenancy(None));
    }
    match tenants::read(store, tenant).await? {
        Some(_) => Err(TenancyError::UnknownKey(key)),
        None => Err(TenancyError::UnknownTenant(tenant.clone())),
    }
}

pub(super) async fn authenticate(
    store: &PostgresStore,
    tenant: TenantId,
    key: KeyId,
    token: &Token,
) -> Result<Option<Principal>, TenancyError> {
    let rows = store
        .sessions
        .query(&tenant, &AUTHENTICATE, &[&uuid(key.as_u128())])
        .await;
    let rows = rows.map_err(|error| error.tenancy(None))?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let read = || {
        let row = Reader::of(row, "access_keys").keyed(&key);
        let hash = KeyHash::from_bytes(row.get("key_hash")?);
        let status = row.parsed("status", TenantStatus::parse)?;
        Ok((
            hash.ok_or_else(|| row.corrupt("key_hash"))?,
            scopes(&row)?,
            status,
        ))
    };
    let (hash, scopes, status) = read().map_err(|error: StoreError| error.tenancy(None))?;
    let suspended = status == TenantStatus::Suspended;
    Ok((hash == token.hash()).then_some(Principal::Tenant {
        tenant,
        key,
        scopes,
        suspended,
    }))
}

fn record(row: &Row) -> Result<KeyRecord, StoreError> {
    let id = KeyId::from_u128(
        row.try_get::<_, Uuid>("key_id")
            .unwrap_or_default()
            .as_u128(),
    );
    let row = Reader::of(row, "access_keys").keyed(&id);
    Ok(KeyRecord {
        id,
        label: row.get("label")?,
        scopes: scopes(&row)?,
        actor: None,
        created_at: row.time("created_at")?,
        revoked_at: row
            .get::<Option<_>>("revoked_at")?
            .map(throughline_domain::Timestamp::from_system_time),
    })
}

fn scopes(row: &Reader<'_>) -> Result<Scopes, StoreError> {
    let words: Vec<&str> = row.get("scopes")?;
    let scopes = words
        .into_iter()
        .map(|word| word.parse().map_err(|_| row.corrupt("scopes")));
    scopes.collect()
}
