//! What the provider measures: the wait for a connection, each statement by its name, the pool.

use std::time::Duration;

use deadpool_postgres::Pool;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use throughline_conversation_memory::Load;

use prometheus::{Histogram, HistogramOpts, HistogramVec, IntGaugeVec, Opts, Registry};

use crate::session::CONTROL;
use crate::statement;
use crate::writer::WriterMetrics;

const SECONDS: [f64; 14] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
];

#[derive(Clone)]
pub(crate) struct Metrics {
    pool_wait: Histogram,
    statements: HistogramVec,
    pub(crate) writer: WriterMetrics,
}

impl Metrics {
    /// Registers every series at zero, one for each statement there is.
    pub(crate) fn register(registry: &Registry, pool: &Pool) -> Result<Self, prometheus::Error> {
        let pool_wait = Histogram::with_opts(
            HistogramOpts::new(
                "ccm_store_pool_wait_seconds",
                "How long a call waited for a database connection.",
            )
            .buckets(SECONDS.to_vec()),
        )?;
        let statements = HistogramVec::new(
            HistogramOpts::new(
                "ccm_store_statement_seconds",
                "How long a database statement took, failed ones included.",
            )
            .buckets(SECONDS.to_vec()),
            &["statement"],
        )?;
        let named = statement::all().map(|statement| statement.name);
        for name in named.chain(CONTROL) {
            statements.with_label_values(&[name]);
        }
        registry.register(Box::new(pool_wait.clone()))?;
        registry.register(Box::new(statements.clone()))?;
        registry.register(Box::new(PoolGauges::new(pool.clone())?))?;
        Ok(Self {
            pool_wait,
            statements,
            writer: WriterMetrics::register(registry)?,
        })
    }

    pub(crate) fn waited(&self, time: Duration) {
        self.pool_wait.observe(time.as_secs_f64());
    }

    /// What a sweep makes room by. Appends are counted by their insert; what they wait for is in the
    /// statement that locks the people before it.
    pub(crate) fn load(&self) -> Load {
        let statement = |name| self.statements.with_label_values(&[name]);
        let stores = ["append_at_once", "append_store"].map(statement);
        let locks = ["append_fence", "append_lock"].map(statement);
        let seconds = stores.iter().chain(&locks).map(Histogram::get_sample_sum);
        Load {
            appends: stores.iter().map(Histogram::get_sample_count).sum(),
            append_seconds: seconds.sum(),
            wait_seconds: self.pool_wait.get_sample_sum(),
        }
    }

    /// How often the statement was sent.
    #[cfg(test)]
    pub(crate) fn times(&self, statement: &str) -> u64 {
        self.statements
            .with_label_values(&[statement])
            .get_sample_count()
    }

    pub(crate) fn ran(&self, statement: &str, time: Duration) {
        self.statements
            .with_label_values(&[statement])
            .observe(time.as_secs_f64());
    }
}

/// The pool's state at the moment of the scrape.
struct PoolGauges {
    pool: Pool,
    connections: IntGaugeVec,
}

impl PoolGauges {
    fn new(pool: Pool) -> Result<Self, prometheus::Error> {
        let connections = IntGaugeVec::new(
            Opts::new(
                "ccm_store_pool_connections",
                "Database connections by state: at most, open, idle; and calls that wait for one.",
            ),
            &["state"],
        )?;
        for state in ["max", "open", "idle", "waiting"] {
            connections.with_label_values(&[state]);
        }
        Ok(Self { pool, connections })
    }
}

impl Collector for PoolGauges {
    fn desc(&self) -> Vec<&Desc> {
        self.connections.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let pool = self.pool.status();
        let states = [
            ("max", pool.max_size),
            ("open", pool.size),
            ("idle", pool.available),
            ("waiting", pool.waiting),
        ];
        for (state, connections) in states {
            let connections = i64::try_from(connections).unwrap_or(i64::MAX);
            self.connections
                .with_label_values(&[state])
                .set(connections);
        }
        self.connections.collect()
    }
}
