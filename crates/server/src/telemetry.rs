//! Logs: one line an event on standard error, as JSON or for people.
//!
//! Never a message, an address or a key, at any level: our types that hold them print as `***` or a
//! size, and libraries, which know nothing of that, are heard from info upwards only: a database driver
//! that is asked for more prints every statement with its values (failures.md 33, T-66).

use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::settings::{LogFilter, LogFormat};

/// Starts logging. A second call changes nothing, so that a command may start a service.
pub(crate) fn start(format: LogFormat, LogFilter(filter): &LogFilter) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = layer().with_writer(std::io::stderr).with_target(true);
    let quiet_libraries = filter_fn(may_speak).with_max_level_hint(LevelFilter::TRACE);
    let registry = tracing_subscriber::registry()
        .with(filter)
        .with(quiet_libraries);
    // An error means that a subscriber is there already.
    let _ = match format {
        LogFormat::Json => registry
            .with(lines.json().flatten_event(true).with_span_list(false))
            .try_init(),
        LogFormat::Pretty => registry
            .with(lines.compact().with_ansi(colour()))
            .try_init(),
    };
}

fn may_speak(event: &Metadata<'_>) -> bool {
    is_ours(event.target()) || *event.level() <= Level::INFO
}

fn is_ours(target: &str) -> bool {
    let krate = target.split("::").next().unwrap_or(target);
    krate == "throughline" || krate.starts_with("throughline_")
}

/// Colour is for a terminal whose owner did not refuse it (<https://no-color.org>).
fn colour() -> bool {
    use std::io::IsTerminal as _;
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !refused
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_our_own_crates_may_speak_below_info() {
        for ours in ["throughline", "throughline::server", "throughline_api::log"] {
            assert!(is_ours(ours), "{ours}");
        }
        for other in [
            "tokio_postgres::query",
            "hyper",
            "sqlx::query",
            "throughlines",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
