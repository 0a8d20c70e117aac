//! Brings a database to this binary's schema. The only place where sqlx is used.

use std::time::{Duration, Instant};

use sqlx::migrate::{MigrateError as SqlxError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};

use crate::config::{Address, PostgresConfig, SslMode, UrlFault};

/// The migrations, embedded with their checksums.
pub(crate) static MIGRATOR: Migrator = {
    let mut migrator = sqlx::migrate!("../../migrations");
    // Its own lock waits inside a statement, and such a statement holds a snapshot that
    // `create index concurrently` in another process waits for: the two never end.
    migrator.locking = false;
    migrator
};

/// Any number that no other program of this database takes for a lock of its own.
const LOCK: i64 = 0x7468_726f_7567_686c;
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(50);
const WAIT_AT_MOST: Duration = Duration::from_mins(10);

/// What a run of [`migrate`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationReport {
    /// The versions applied by this run, in order.
    pub applied: Vec<i64>,
    /// The schema's version now.
    pub version: i64,
}

/// Why the database could not be brought to this binary's schema.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The URL.
    #[error(transparent)]
    Url(#[from] UrlFault),
    /// No connection.
    #[error("the database cannot be reached")]
    Unreachable(#[source] sqlx::Error),
    /// Another process holds the lock, longer than any migration should take.
    #[error(
        "another process is still migrating after {WAIT_AT_MOST:?}; look for it, then try again"
    )]
    Locked,
    /// The database is newer than this binary.
    #[error(
        "the schema is at version {applied}, this binary knows it up to {known}; use a newer binary"
    )]
    Ahead {
        /// The newest applied.
        applied: i64,
        /// The newest this binary knows.
        known: i64,
    },
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
    /// The database would refuse or change what people say.
    #[error("the database's encoding is {encoding}; create it with encoding UTF8")]
    Encoding {
        /// What it is.
        encoding: String,
    },
    /// A statement failed; what it had done is taken back.
    #[error("the schema could not be migrated")]
    Failed(#[source] SqlxError),
}

/// Applies every migration that is missing; applying none is a success too. Processes that start at
/// once wait for one another. Needs a direct connection: through a pooler in transaction mode the
/// lock does not hold, because it belongs to a session.
pub async fn migrate(config: &PostgresConfig) -> Result<MigrationReport, MigrateError> {
    let options = options(config)?;
    let connect = PgConnection::connect_with(&options);
    let mut connection = match tokio::time::timeout(config.connect_timeout, connect).await {
        Ok(connection) => connection.map_err(MigrateError::Unreachable)?,
        Err(_) => return Err(MigrateError::Unreachable(sqlx::Error::PoolTimedOut)),
    };
    check_encoding(&mut connection).await?;
    lock(&mut connection).await?;
    let outcome = run(&mut connection).await;
    // The lock goes with the session.
    if let Err(error) = connection.close().await {
        tracing::debug!(error = %error, "the migrating connection did not close cleanly");
    }
    outcome
}

fn options(config: &PostgresConfig) -> Result<PgConnectOptions, MigrateError> {
    let Address { url, ssl_mode } = config.address()?;
    let options: PgConnectOptions = url.parse().map_err(|_| UrlFault::Malformed)?;
    let roots = config.tls.root_certificates.as_deref();
    let options = options.ssl_mode(match (ssl_mode, roots) {
        (SslMode::Disable, _) => PgSslMode::Disable,
        (SslMode::Prefer, None) => PgSslMode::Prefer,
        (SslMode::Require, None) => PgSslMode::Require,
        (SslMode::VerifyFull, _) | (SslMode::Prefer | SslMode::Require, Some(_)) => {
            PgSslMode::VerifyFull
        }
    });
    let options = match roots {
        Some(path) => options.ssl_root_cert(path),
        None => options,
    };
    Ok(options
        .application_name("throughline migrate")
        .disable_statement_logging())
}

/// Another encoding has no place for most of what is written in a chat.
async fn check_encoding(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let encoding: String = sqlx::query_scalar("select current_setting('server_encoding')")
        .fetch_one(connection)
        .await
        .map_err(|error| MigrateError::Failed(error.into()))?;
    if encoding == "UTF8" {
        Ok(())
    } else {
        Err(MigrateError::Encoding { encoding })
    }
}

/// Asks again and again instead of waiting inside a statement, for the reason given at
/// [`MIGRATOR`].
async fn lock(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let begun = Instant::now();
    loop {
        let ours: bool = sqlx::query_scalar("select pg_try_advisory_lock($1)")
            .bind(LOCK)
            .fetch_one(&mut *connection)
            .await
            .map_err(|error| MigrateError::Failed(error.into()))?;
        if ours {
            return Ok(());
        }
        if begun.elapsed() > WAIT_AT_MOST {
            return Err(MigrateError::Locked);
        }
        tokio::time::sleep(ASK_AGAIN_AFTER).await;
    }
}

async fn run(connection: &mut PgConnection) -> Result<MigrationReport, MigrateError> {
    let before = applied(connection).await?;
    let known = MIGRATOR
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0);
    if let Some(&newest) = before.last().filter(|&&newest| newest > known) {
        return Err(MigrateError::Ahead {
            applied: newest,
            known,
        });
    }
    // Not `run`: its future is not `Send`, so it could not be awaited inside a task.
    MIGRATOR
        .run_direct(None, connection, false)
        .await
        .map_err(|error| match error {
            SqlxError::VersionMismatch(version) | SqlxError::VersionMissing(version) => {
                MigrateError::Altered { version }
            }
            SqlxError::Dirty(version) => MigrateError::Unfinished { version },
            error => MigrateError::Failed(error),
        })?;
    let after = applied(connection).await?;
    let version = after.last().copied().unwrap_or(0);
    let applied = after
        .into_iter()
        .filter(|version| !before.contains(version))
        .collect();
    Ok(MigrationReport { applied, version })
}

async fn applied(connection: &mut PgConnection) -> Result<Vec<i64>, MigrateError> {
    let failed = |error: sqlx::Error| MigrateError::Failed(error.into());
    let table: bool = sqlx::query_scalar("select to_regclass('_sqlx_migrations') is not null")
        .fetch_one(&mut *connection)
        .await
        .map_err(failed)?;
    if !table {
        return Ok(Vec::new());
    }
    sqlx::query_scalar("select version from _sqlx_migrations order by version")
        .fetch_all(&mut *connection)
        .await
        .map_err(failed)
}
