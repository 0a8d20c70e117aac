//! How the database's schema stands to this binary.

use tokio_postgres::types::Type;

use crate::migrate::MIGRATOR;
use crate::statement::{ForOperator, Statement};
use crate::store::{PostgresStore, Unavailable};

pub(crate) static FOR_OPERATOR: &[&ForOperator] =
    &[&PING, &SCHEMA_TABLE, &SCHEMA_VERSIONS, &SCHEMA_MISSING];

pub(crate) static PING: ForOperator = ForOperator(Statement {
    name: "ping",
    sql: "-- ping\nselect 1",
    params: &[],
});

static SCHEMA_TABLE: ForOperator = ForOperator(Statement {
    name: "schema_table",
    sql: "-- schema_table\nselect to_regclass('_sqlx_migrations') is not null",
    params: &[],
});

static SCHEMA_VERSIONS: ForOperator = ForOperator(Statement {
    name: "schema_versions",
    sql: "-- schema_versions\n\
          select version, checksum, success\n\
          from _sqlx_migrations\n\
          order by version",
    params: &[],
});

static SCHEMA_MISSING: ForOperator = ForOperator(Statement {
    name: "schema_missing",
    sql: "-- schema_missing\n\
          select k.name\n\
          from unnest($1::text[]) as k (name)\n\
          where to_regclass(k.name) is null\n\
          order by k.name",
    params: &[Type::TEXT_ARRAY],
});

/// Every table that the migrations make.
pub(crate) const TABLES: [&str; 18] = [
    "access_keys",
    "ccm_audit_events",
    "ccm_outbox",
    "conversations",
    "cross_channel_messages",
    "email_claims",
    "erased_refs",
    "idempotency_tombstones",
    "job_cursors",
    "job_leases",
    "merges",
    "operator_keys",
    "platform_identities",
    "restamps",
    "reviews",
    "tenant_streams",
    "tenants",
    "users",
];

/// How the schema stands to this binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaStatus {
    /// Every migration this binary knows is applied, and no other.
    UpToDate,
    /// Some are not applied yet: run `throughline migrate`.
    Behind {
        /// The newest applied.
        applied: i64,
        /// The newest this binary knows.
        known: i64,
    },
    /// A newer release was here: this binary must not run.
    Ahead {
        /// The newest applied.
        applied: i64,
        /// The newest this binary knows.
        known: i64,
    },
    /// Nothing is there yet: run `throughline migrate`.
    Missing,
}

/// Why the schema's state cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The database does not answer.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// An applied migration is not the one of this binary.
    #[error(
        "migration {version} was applied with another text than this binary's; use the binary it came from"
    )]
    Altered {
        /// Which.
        version: i64,
    },
    /// A migration stopped half-way.
    #[error(
        "migration {version} stopped half-way; repair it by hand, then delete its row from _sqlx_migrations"
    )]
    Unfinished {
        /// Which.
        version: i64,
    },
}

impl PostgresStore {
    /// The tables that are not there, though their migrations may be. One look into the catalogue.
    pub async fn missing_tables(&self) -> Result<Vec<String>, SchemaError> {
        let tables: &[&str] = &TABLES;
        let sessions = &self.sessions;
        let rows = sessions
            .query_as_operator(&SCHEMA_MISSING, &[&tables])
            .await;
        let rows = rows.map_err(|error| Unavailable(Box::new(error)))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Compares the applied migrations with those of this binary.
    pub async fn schema_status(&self) -> Result<SchemaStatus, SchemaError> {
        let unavailable = |error| Unavailable(Box::new(error));
        let ask = |statement| self.sessions.query_as_operator(statement, &[]);
        let table = ask(&SCHEMA_TABLE).await.map_err(unavailable)?;
        if !table.iter().any(|row| row.get::<_, bool>(0)) {
            return Ok(SchemaStatus::Missing);
        }
        let rows = ask(&SCHEMA_VERSIONS).await.map_err(unavailable)?;
        let applied = rows.iter().map(|row| Applied {
            version: row.get(0),
            checksum: row.get(1),
            success: row.get(2),
        });
        compare(&applied.collect::<Vec<_>>())
    }
}

struct Applied {
    version: i64,
    checksum: Vec<u8>,
    success: bool,
}

fn compare(applied: &[Applied]) -> Result<SchemaStatus, SchemaError> {
    let known = MIGRATOR
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0);
    let Some(newest) = applied.last().map(|migration| migration.version) else {
        return Ok(SchemaStatus::Missing);
    };
    if newest > known {
        return Ok(SchemaStatus::Ahead {
            applied: newest,
            known,
        });
    }
    for Applied {
        version,
        checksum,
        success,
    } in applied
    {
        if !success {
            return Err(SchemaError::Unfinished { version: *version });
        }
        let ours = MIGRATOR
            .iter()
            .find(|migration| migration.version == *version);
        if ours.is_none_or(|ours| ours.checksum.as_ref() != checksum.as_slice()) {
            return Err(SchemaError::Altered { version: *version });
        }
    }
    if applied.len() < MIGRATOR.iter().count() {
        return Ok(SchemaStatus::Behind {
            applied: newest,
            known,
        });
    }
    Ok(SchemaStatus::UpToDate)
}
