//! The store: a pool, a clock and ids.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use prometheus::Registry;
use throughline_domain::{Clock, Ids};
use tokio_postgres::NoTls;

use crate::config::{
    Address, PostgresConfig, SslMode, StatementMode, UrlFault, WriteStrategy, WriterOptions,
};
use crate::error::StoreError;
use crate::memory::{Appender, Versions};
use crate::metrics::Metrics;
use crate::schema_status;
use crate::session::Sessions;
use crate::tls::{self, TlsFault};
use crate::writer::Writer;

/// How much longer than the server we wait before we give the connection up.
const GRACE: Duration = Duration::from_secs(1);

/// Tenancy, platform identity and conversation memory on PostgreSQL.
pub struct PostgresStore {
    pub(crate) sessions: Sessions,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) appender: Arc<Appender>,
    /// In front of the appender; none when each call is a transaction of its own.
    pub(crate) writer: Option<Writer>,
    /// None where a statement must stay within one tenant.
    pub(crate) versions: Option<Arc<Versions>>,
}

/// Why there is no store.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL.
    #[error(transparent)]
    Url(#[from] UrlFault),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsFault),
    /// A pool of no connections, or none at all.
    #[error("the pool cannot be made; its size and the number of writers must be at least 1")]
    Pool,
    /// The metrics are registered already.
    #[error("the store's metrics cannot be registered")]
    Metrics(#[from] prometheus::Error),
}

/// The database does not answer.
#[derive(Debug, thiserror::Error)]
#[error("the database does not answer")]
pub struct Unavailable(#[source] pub(crate) Box<dyn std::error::Error + Send + Sync>);

impl PostgresStore {
    /// Makes the pool; the first call connects. Neither asks for nor changes the schema.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the store is made out of its settings"
    )]
    pub fn connect(
        config: PostgresConfig,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        registry: &Registry,
    ) -> Result<Arc<Self>, ConnectError> {
        let pool = pool(&config, config.pool_size, Planning::ByValues)?;
        let metrics = Metrics::register(registry, &pool)?;
        let patience = match config.statement_mode {
            StatementMode::Prepared => config.statement_timeout + GRACE,
            // No session setting survives a pooler: only we can give up.
            StatementMode::Unnamed => config.statement_timeout,
        };
        let sessions = Sessions {
            pool,
            metrics,
            mode: config.statement_mode,
            pool_wait: config.pool_wait,
            patience,
        };
        let writing = match config.write_strategy {
            WriteStrategy::Group(WriterOptions { writers, .. }) => Sessions {
                pool: self::pool(&config, writers, Planning::Once)?,
                ..sessions.clone()
            },
            WriteStrategy::Direct => sessions.clone(),
        };
        let apart = matches!(
            config.write_strategy,
            WriteStrategy::Group(WriterOptions {
                one_tenant_each: true,
                ..
            })
        );
        let appender = Arc::new(Appender {
            sessions: writing,
            others: sessions.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            at_once: !apart,
        });
        let writer = match config.write_strategy {
            WriteStrategy::Group(options) => {
                Some(Writer::new(&appender, options, config.pool_wait))
            }
            WriteStrategy::Direct => None,
        };
        Ok(Arc::new(Self {
            versions: (!apart).then(|| Arc::new(Versions::new(sessions.clone()))),
            sessions,
            clock,
            ids,
            appender,
            writer,
        }))
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), Unavailable> {
        let answer = self
            .sessions
            .query_as_operator(&schema_status::PING, &[])
            .await;
        answer
            .map(|_| ())
            .map_err(|error: StoreError| Unavailable(Box::new(error)))
    }

    /// Writes what has queued and answers every caller, then closes the pools: calls that wait for a
    /// connection fail, the connections in use are closed as they come back.
    pub async fn close(&self) {
        if let Some(writer) = &self.writer {
            writer.close().await;
        }
        if let Some(versions) = &self.versions {
            versions.close().await;
        }
        self.appender.sessions.pool.close();
        self.sessions.pool.close();
    }
}

/// When a prepared statement is planned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Planning {
    /// The server decides: for values that make a difference.
    ByValues,
    /// Not for each values: an append's arrays differ in length only, and planning it takes longer than
    /// running it.
    Once,
}

fn pool(config: &PostgresConfig, size: usize, planning: Planning) -> Result<Pool, ConnectError> {
    let Address { url, ssl_mode } = config.address()?;
    let mut driver: tokio_postgres::Config = url.parse().map_err(|_| UrlFault::Malformed)?;
    driver.connect_timeout(config.connect_timeout);
    driver.ssl_mode(match ssl_mode {
        SslMode::Disable => tokio_postgres::config::SslMode::Disable,
        SslMode::Prefer => tokio_postgres::config::SslMode::Prefer,
        SslMode::Require | SslMode::VerifyFull => tokio_postgres::config::SslMode::Require,
    });
    if driver.get_application_name().is_none() {
        driver.application_name("throughline");
    }
    if config.statement_mode == StatementMode::Prepared {
        let options = session_options(driver.get_options(), config.statement_timeout);
        driver.options(match planning {
            Planning::ByValues => options,
            Planning::Once => format!("-c plan_cache_mode=force_generic_plan {options}"),
        });
    }
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = match ssl_mode {
        SslMode::Disable => Manager::from_config(driver, NoTls, recycling),
        mode => Manager::from_config(driver, tls::connector(mode, &config.tls)?, recycling),
    };
    Pool::builder(manager)
        .max_size(size)
        .wait_timeout(Some(config.pool_wait))
        .create_timeout(Some(config.connect_timeout))
        .recycle_timeout(Some(config.connect_timeout))
        .runtime(Runtime::Tokio1)
        .build()
        .ok()
        .filter(|_| size > 0)
        .ok_or(ConnectError::Pool)
}

/// What each session is told when it starts. Set here and not by a statement, so that a connection
/// costs one round trip. A transaction that its client forgot ends by itself. Compiling a plan to
/// machine code costs more than any of our statements takes. A prepared plan made for a small table
/// must not read it through when it has grown: every statement has an index to go by. Single statements count on seeing what
/// was committed before them, whatever the database's own default is.
fn session_options(given: Option<&str>, statement_timeout: Duration) -> String {
    let limit = statement_timeout.as_millis().max(1);
    let idle = (statement_timeout + 2 * GRACE).as_millis();
    let ours = format!(
        "-c statement_timeout={limit} -c idle_in_transaction_session_timeout={idle} -c jit=off \
         -c enable_seqscan=off -c default_transaction_isolation=read\\ committed"
    );
    match given {
        // The last word wins, and it is the operator's.
        Some(given) => format!("{ours} {given}"),
        None => ours,
    }
}
