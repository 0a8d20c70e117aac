//! A connection on loan from the pool, and the handles through which alone a statement is sent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::{Object, Pool};
use throughline_domain::TenantId;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::config::StatementMode;
use crate::error::StoreError;
use crate::metrics::Metrics;
use crate::statement::{ForOperator, ForTenant, ForTenants, Statement};

/// The names under which the bounds of transactions are measured; a commit is where the disk is.
pub(crate) const CONTROL: [&str; 3] = ["begin", "commit", "rollback"];

/// A parameter as the driver takes it.
pub(crate) type Param<'a> = &'a (dyn ToSql + Sync);

/// Where sessions come from.
#[derive(Clone)]
pub(crate) struct Sessions {
    pub(crate) pool: Pool,
    pub(crate) metrics: Metrics,
    pub(crate) mode: StatementMode,
    pub(crate) pool_wait: Duration,
    /// How long an answer is waited for. Where the server itself gives up earlier, this is for
    /// servers that do not answer at all.
    pub(crate) patience: Duration,
}

/// One connection. It goes back to the pool when dropped, unless something was begun on it and not
/// finished: then it is closed, so that nobody inherits an open transaction or another's answer.
pub(crate) struct Session<'a> {
    sessions: &'a Sessions,
    /// `None` only while it is being dropped.
    connection: Option<Object>,
    unfinished: AtomicUsize,
}

/// A session for one tenant: its name is put into `$1`.
pub(crate) struct Bound<'a> {
    session: &'a Session<'a>,
    tenant: &'a TenantId,
}

impl Sessions {
    /// Waits for a free connection, at most as long as configured.
    pub(crate) async fn session(&self) -> Result<Session<'_>, StoreError> {
        let asked = Instant::now();
        let connection = self.pool.get().await;
        self.metrics.waited(asked.elapsed());
        let connection = connection.map_err(|error| StoreError::pool(error, self.pool_wait))?;
        Ok(Session {
            sessions: self,
            connection: Some(connection),
            unfinished: AtomicUsize::new(0),
        })
    }

    /// One statement for one tenant, outside a transaction.
    pub(crate) async fn query(
        &self,
        tenant: &TenantId,
        statement: &'static ForTenant,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let session = self.session().await?;
        session.bound(tenant).query(statement, params).await
    }

    /// One statement of an operator or of the service itself, outside a transaction.
    pub(crate) async fn query_as_operator(
        &self,
        statement: &'static ForOperator,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        self.session().await?.run(&statement.0, params).await
    }
}

impl Session<'_> {
    /// The handle for a tenant's statements.
    pub(crate) fn bound<'a>(&'a self, tenant: &'a TenantId) -> Bound<'a> {
        Bound {
            session: self,
            tenant,
        }
    }

    /// Runs a statement over rows that carry their tenant each.
    pub(crate) async fn query_rows(
        &self,
        statement: &'static ForTenants,
        tenants: &[&str],
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let mut all: Vec<Param<'_>> = vec![&tenants];
        all.extend(params);
        self.run(&statement.0, &all).await
    }

    /// Prepares statements that are going to be sent without waiting for one another's answers:
    /// one that had to be prepared first would be overtaken.
    pub(crate) async fn prepare(
        &self,
        statements: &[&'static ForTenants],
    ) -> Result<(), StoreError> {
        if self.sessions.mode == StatementMode::Prepared {
            for statement in statements {
                self.prepared(&statement.0).await?;
            }
        }
        Ok(())
    }

    /// Opens a transaction in which each statement sees what was committed before it. Until
    /// [`Self::commit`] or [`Self::rollback`] has answered, dropping the session closes it.
    pub(crate) async fn begin(&self) -> Result<(), StoreError> {
        self.open("begin isolation level read committed").await
    }

    async fn open(&self, begin: &str) -> Result<(), StoreError> {
        self.unfinished.fetch_add(1, Ordering::Relaxed);
        self.control("begin", begin).await
    }

    /// Opens one as [`Self::begin`] does, for rows that are stored at once: whoever holds a lock for longer
    /// than a chunk of a sweep takes is not waited for ([`StoreError::is_held`]).
    ///
    /// Now and then the connection's plans are made anew: those of a prepared statement are kept, and one
    /// that was made for an empty table reads a large one by the wrong index. The table is at most twice
    /// as large as its plan knows, until that is far too seldom to matter.
    pub(crate) async fn begin_at_once(&self) -> Result<(), StoreError> {
        let begin = "begin isolation level read committed; set local lock_timeout = '50ms'";
        let used = Object::metrics(self.connection()).recycle_count;
        if self.sessions.mode == StatementMode::Unnamed || !plans_are_old(used) {
            return self.open(begin).await;
        }
        let anew = self.control("begin", "discard plans");
        let (discarded, opened) = tokio::join!(anew, self.open(begin));
        discarded.and(opened)
    }

    /// Commits. After any error but an abort told by the server, the outcome is unknown.
    pub(crate) async fn commit(&self) -> Result<(), StoreError> {
        self.control("commit", "commit").await?;
        self.unfinished.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Takes everything back.
    pub(crate) async fn rollback(&self) -> Result<(), StoreError> {
        self.control("rollback", "rollback").await?;
        self.unfinished.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    async fn control(&self, name: &'static str, sql: &str) -> Result<(), StoreError> {
        let begun = Instant::now();
        let answer = self
            .within_patience(name, self.connection().batch_execute(sql))
            .await;
        self.sessions.metrics.ran(name, begun.elapsed());
        answer
    }

    async fn run(
        &self,
        statement: &'static Statement,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let begun = Instant::now();
        let answer = self
            .within_patience(statement.name, self.send(statement, params))
            .await;
        self.sessions.metrics.ran(statement.name, begun.elapsed());
        answer
    }

    async fn send(
        &self,
        statement: &'static Statement,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        match self.sessions.mode {
            StatementMode::Prepared => {
                let types = statement.params;
                let prepared = self
                    .connection()
                    .prepare_typed_cached(statement.sql, types)
                    .await?;
                self.connection().query(&prepared, params).await
            }
            StatementMode::Unnamed => {
                let typed: Vec<(Param<'_>, Type)> = params
                    .iter()
                    .copied()
                    .zip(statement.params.iter().cloned())
                    .collect();
                self.connection().query_typed(statement.sql, &typed).await
            }
        }
    }

    async fn prepared(&self, statement: &'static Statement) -> Result<(), StoreError> {
        let prepare = self
            .connection()
            .prepare_typed_cached(statement.sql, statement.params);
        self.within_patience(statement.name, prepare)
            .await
            .map(|_| ())
    }

    /// Counts what was sent until its answer is there: a caller that goes away in between, or a
    /// server that does not answer, leaves a connection nobody may use again.
    async fn within_patience<T>(
        &self,
        name: &'static str,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, StoreError> {
        self.unfinished.fetch_add(1, Ordering::Relaxed);
        let after = self.sessions.patience;
        let Ok(answer) = tokio::time::timeout(after, answer).await else {
            return Err(StoreError::TimedOut {
                statement: name,
                after,
            });
        };
        self.unfinished.fetch_sub(1, Ordering::Relaxed);
        answer.map_err(|error| StoreError::driver(name, error))
    }

    fn connection(&self) -> &Object {
        self.connection.as_ref().expect("taken out only by drop")
    }
}

/// After 16, 32, 64, … uses of a connection, and at last after every 4,096.
fn plans_are_old(used: usize) -> bool {
    used >= 16 && (used.is_power_of_two() || used.is_multiple_of(4096))
}

impl Bound<'_> {
    /// Runs the statement; `params` are those from `$2` on.
    pub(crate) async fn query(
        &self,
        statement: &'static ForTenant,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let tenant = self.tenant.as_str();
        let mut all: Vec<Param<'_>> = vec![&tenant];
        all.extend(params);
        self.session.run(&statement.0, &all).await
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if *self.unfinished.get_mut() > 0
            && let Some(connection) = self.connection.take()
        {
            drop(Object::take(connection));
        }
    }
}
