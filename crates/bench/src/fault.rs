//! Why a benchmark has no result.

/// The benchmark could not be run, or what it checked was wrong.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No Postgres, or not the programs that are needed.
    #[error("there is no database to measure; install PostgreSQL with pgbench, or name one")]
    Postgres(#[from] throughline_scratch_postgres::Error),
    /// The schema.
    #[error("the database could not be migrated")]
    Migrate(#[from] throughline_provider_postgres::MigrateError),
    /// The store.
    #[error("the store could not be opened")]
    Store(#[from] throughline_provider_postgres::ConnectError),
    /// Tenants, keys or users could not be made.
    #[error("the stage could not be set: {0}")]
    Stage(String),
    /// A program ended badly.
    #[error("{program} failed: {said}")]
    Program {
        /// Which.
        program: &'static str,
        /// The end of what it wrote.
        said: String,
    },
    /// Files and processes.
    #[error("the machine refused: {0}")]
    Io(#[from] std::io::Error),
    /// An answer was an error where none is expected.
    #[error("{0}")]
    Answer(String),
    /// The store is not what the answers said.
    #[error("the store differs from the answers: {0}")]
    Wrong(String),
}

impl BenchError {
    pub(crate) fn stage(error: impl std::fmt::Display) -> Self {
        Self::Stage(error.to_string())
    }
}
