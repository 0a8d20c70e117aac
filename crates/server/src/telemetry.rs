//! Logs: one line an event on standard error, as JSON or for people.
//!
//! Never a message, an address or a key: the types that hold them print as `***` or a size
//! (failures.md 33).

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::settings::{LogFilter, LogFormat};

/// Starts logging. A second call changes nothing, so that a command may start a service.
pub(crate) fn start(format: LogFormat, LogFilter(filter): &LogFilter) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = layer().with_writer(std::io::stderr).with_target(true);
    let registry = tracing_subscriber::registry().with(filter);
    // An error means that a subscriber is there already.
    let _ = match format {
        LogFormat::Json => registry
            .with(lines.json().flatten_event(true).with_span_list(false))
            .try_init(),
        LogFormat::Pretty => registry.with(lines.compact().with_ansi(colour())).try_init(),
    };
}

/// Colour is for a terminal whose owner did not refuse it (<https://no-color.org>).
fn colour() -> bool {
    use std::io::IsTerminal as _;
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !refused
}
