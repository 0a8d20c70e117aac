//! A success: its status and its whole body.

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::ClientError;

/// An answer with a status from 200 to 299.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The body, which must be what the status promises.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
        serde_json::from_slice(&self.body).map_err(|error| self.unreadable(error))
    }

    /// For a body that is JSON and still makes no sense.
    pub(crate) fn unreadable(
        &self,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> ClientError {
        ClientError::unreadable(self.status, cause)
    }

    /// A success without a body, as the service gives for what has nothing to say. Another success is not
    /// what was asked for.
    pub(crate) fn expect_empty(&self) -> Result<(), ClientError> {
        if self.status == 204 {
            Ok(())
        } else {
            Err(self.unreadable("a success without a body was expected"))
        }
    }
}
