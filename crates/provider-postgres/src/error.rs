//! What the database or the way to it can answer, and the one place that says what a SQLSTATE means.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::PoolError;
use throughline_conversation_memory::{Cause, MemoryError};
use throughline_domain::TenantId;
use throughline_platform_identity::IdentityError;
use throughline_tenancy::TenancyError;
use tokio_postgres::error::{Severity, SqlState};

/// Why a statement gave no rows. No text in it holds a stored value: the server's DETAIL and the
/// messages of data errors quote them (failures.md 33).
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("no database connection was free within {0:?}")]
    Busy(Duration),
    #[error("no database connection could be made")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    #[error("statement {statement} was refused by the database")]
    Refused {
        statement: &'static str,
        #[source]
        fault: ServerFault,
    },
    #[error("the database connection was lost during {statement}")]
    Lost {
        statement: &'static str,
        #[source]
        source: tokio_postgres::Error,
    },
    #[error("statement {statement} gave no answer within {after:?}")]
    TimedOut {
        statement: &'static str,
        after: Duration,
    },
    #[error("{table}.{column} of {row} cannot be read")]
    Corrupt {
        table: &'static str,
        column: &'static str,
        row: String,
    },
    #[error("the transaction met others {0} times in a row")]
    Contended(u32),
}

/// The server's own words, as far as they cannot quote a stored value.
#[derive(Debug)]
pub(crate) struct ServerFault {
    state: SqlState,
    severe: bool,
    message: Option<String>,
    constraint: Option<String>,
}

/// What a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The same transaction again can succeed at once: a serialization failure or a deadlock.
    Again,
    /// A value cannot be stored, by itself; the same statement without it can succeed.
    Data,
    /// A row that is referred to does not exist.
    MissingReference,
    /// The database is not in a state to answer.
    Unavailable,
}

impl StoreError {
    pub(crate) fn driver(statement: &'static str, error: tokio_postgres::Error) -> Self {
        match ServerFault::of(&error) {
            Some(fault) => Self::Refused { statement, fault },
            None => Self::Lost {
                statement,
                source: error,
            },
        }
    }

    pub(crate) fn pool(error: PoolError, wait: Duration) -> Self {
        match error {
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => Self::Busy(wait),
            PoolError::Backend(error) => match ServerFault::of(&error) {
                Some(fault) => Self::Unreachable(Box::new(fault)),
                None => Self::Unreachable(Box::new(error)),
            },
            error => Self::Unreachable(Box::new(error)),
        }
    }

    /// The only reader of SQLSTATEs. Never of constraint names: a sharded database adds suffixes.
    pub(crate) fn meaning(&self) -> Meaning {
        let Self::Refused { fault, .. } = self else {
            return Meaning::Unavailable;
        };
        match fault.state.code() {
            "40001" | "40P01" => Meaning::Again,
            "23503" => Meaning::MissingReference,
            // Data exceptions, integrity violations, and rows or index entries that are too large.
            code if ["22", "23", "54"].contains(&&code[..2]) => Meaning::Data,
            _ => Meaning::Unavailable,
        }
    }

    /// Whether a row that was not to be waited for is held by somebody.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self, Self::Refused { fault, .. } if fault.state == SqlState::LOCK_NOT_AVAILABLE)
    }

    /// Whether a row with this key stands there already.
    pub(crate) fn is_second_of_a_key(&self) -> bool {
        matches!(self, Self::Refused { fault, .. } if fault.state == SqlState::UNIQUE_VIOLATION)
    }

    /// Whether the server itself said that the transaction is aborted, so that nothing of it stays.
    pub(crate) fn is_abort(&self) -> bool {
        // A session that is being ended can have its commit behind it.
        matches!(self, Self::Refused { fault, .. } if !fault.severe)
    }

    pub(crate) fn identity(self, tenant: &TenantId) -> IdentityError {
        match self {
            Self::Corrupt { table, column, row } => IdentityError::Corrupt { table, column, row },
            error if error.meaning() == Meaning::MissingReference => {
                IdentityError::UnknownTenant(tenant.clone())
            }
            error => IdentityError::Unavailable(Box::new(error)),
        }
    }

    pub(crate) fn memory(self) -> MemoryError {
        match self {
            Self::Corrupt { table, column, row } => MemoryError::Corrupt { table, column, row },
            error => MemoryError::Unavailable(Cause::new(error)),
        }
    }

    pub(crate) fn tenancy(self, tenant: Option<&TenantId>) -> TenancyError {
        match (self.meaning(), tenant) {
            (Meaning::MissingReference, Some(tenant)) => {
                TenancyError::UnknownTenant(tenant.clone())
            }
            _ => TenancyError::Unavailable(Box::new(self)),
        }
    }
}

impl ServerFault {
    pub(crate) fn of(error: &tokio_postgres::Error) -> Option<Self> {
        let error = error.as_db_error()?;
        let quotes_values = ["22", "23"].contains(&&error.code().code()[..2]);
        Some(Self {
            state: error.code().clone(),
            // Not `severity()`: the server writes that one in its own language.
            severe: error.parsed_severity() != Some(Severity::Error),
            message: (!quotes_values).then(|| error.message().to_owned()),
            constraint: error.constraint().map(str::to_owned),
        })
    }
}

impl fmt::Display for ServerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlstate {}", self.state.code())?;
        if let Some(message) = &self.message {
            write!(f, ": {message}")?;
        }
        if let Some(constraint) = &self.constraint {
            write!(f, " (constraint {constraint})")?;
        }
        Ok(())
    }
}

impl Error for ServerFault {}

/// One failure as the cause of many answers.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Arc<StoreError>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shared {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
