//! SIGTERM and SIGINT, one after the other.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// The signals that ask the process to stop. From the moment it is made none is lost.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes the two signals over from their default, which would end the process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let take = |kind| {
            signal(kind).map_err(|error| {
                Failure::caused("no_signals", "stop signals cannot be received", &error)
            })
        };
        Ok(Self {
            terminate: take(SignalKind::terminate())?,
            interrupt: take(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next one; its name.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
