//! SIGTERM and SIGINT, one after the other.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// Where the accept loop learns that it has to stop.
pub(crate) trait StopSignals: Send {
    /// Waits for the next request to stop.
    fn next(&mut self) -> impl Future<Output = ()> + Send;
}

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
    pub(crate) async fn name(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

impl StopSignals for Signals {
    async fn next(&mut self) {
        let signal = self.name().await;
        tracing::info!(signal, "asked to stop; a further signal ends at once");
    }
}
