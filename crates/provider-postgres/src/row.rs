//! Values out of rows: a wrong one names table, column and row.

use throughline_domain::{Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use crate::error::StoreError;

/// Reads the columns of one table out of a row.
pub(crate) struct Reader<'a> {
    pub(crate) row: &'a Row,
    pub(crate) table: &'static str,
    /// The row's key, free of personal data.
    pub(crate) key: String,
}

impl<'a> Reader<'a> {
    /// Of a row whose key is not known yet, or is personal.
    pub(crate) fn of(row: &'a Row, table: &'static str) -> Self {
        Self {
            row,
            table,
            key: String::new(),
        }
    }

    /// The same row under its key.
    pub(crate) fn keyed(self, key: &impl ToString) -> Self {
        Self {
            key: key.to_string(),
            ..self
        }
    }

    pub(crate) fn get<T: FromSql<'a>>(&self, column: &'static str) -> Result<T, StoreError> {
        self.row.try_get(column).map_err(|_| self.corrupt(column))
    }

    pub(crate) fn time(&self, column: &'static str) -> Result<Timestamp, StoreError> {
        self.get(column).map(Timestamp::from_system_time)
    }

    pub(crate) fn user(&self, column: &'static str) -> Result<UserId, StoreError> {
        self.get::<Uuid>(column)
            .map(|id| UserId::from_u128(id.as_u128()))
    }

    pub(crate) fn number(&self, column: &'static str) -> Result<u64, StoreError> {
        self.get::<i64>(column)?
            .try_into()
            .map_err(|_| self.corrupt(column))
    }

    /// A word or another text that has to be understood.
    pub(crate) fn parsed<T>(
        &self,
        column: &'static str,
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, StoreError> {
        parse(self.get(column)?).ok_or_else(|| self.corrupt(column))
    }

    pub(crate) fn corrupt(&self, column: &'static str) -> StoreError {
        StoreError::Corrupt {
            table: self.table,
            column,
            row: self.key.clone(),
        }
    }
}

/// A number for a `bigint` column.
pub(crate) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// An id for a `uuid` column.
pub(crate) fn uuid(id: u128) -> Uuid {
    Uuid::from_u128(id)
}
