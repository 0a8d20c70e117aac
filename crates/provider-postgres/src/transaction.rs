//! Transactions that are tried again when they met another one.

use throughline_platform_identity::IdentityError;

use crate::error::{Meaning, StoreError};
use crate::session::Session;

/// How often one transaction is tried. Each try but the first means that somebody else changed what
/// it had read.
pub(crate) const TRIES: u32 = 32;

/// Why a transaction is to be rolled back.
#[derive(Debug)]
pub(crate) enum Abort<E> {
    /// The database said no.
    Store(StoreError),
    /// What was read before the locks is no longer so; the same transaction again can succeed.
    Moved,
    /// The caller's own reason.
    Refused(E),
}

impl<E> From<StoreError> for Abort<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<IdentityError> for Abort<IdentityError> {
    fn from(error: IdentityError) -> Self {
        Self::Refused(error)
    }
}

/// What an operation of several tries ends with, when not with a value.
#[derive(Debug)]
pub(crate) enum Failed<E> {
    Store(StoreError),
    Refused(E),
}

impl<E> From<StoreError> for Failed<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Session<'_> {
    /// Ends one try: commits a value, rolls everything else back. `None` asks for another try.
    pub(crate) async fn end<T, E>(
        &self,
        outcome: Result<T, Abort<E>>,
    ) -> Result<Option<T>, Failed<E>> {
        match outcome {
            Ok(value) => {
                self.commit().await?;
                Ok(Some(value))
            }
            Err(Abort::Moved) => {
                self.rollback().await?;
                Ok(None)
            }
            Err(Abort::Store(error)) if error.meaning() == Meaning::Again => {
                self.rollback().await?;
                Ok(None)
            }
            Err(Abort::Store(error)) => {
                // A lost connection cannot roll back; the first error is the one to tell.
                let _ = self.rollback().await;
                Err(Failed::Store(error))
            }
            Err(Abort::Refused(reason)) => {
                self.rollback().await?;
                Err(Failed::Refused(reason))
            }
        }
    }
}
