//! What a caller may choose about a scratch server, and the configuration that comes of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What the server does with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Nothing is flushed: for tests that never crash the machine or the server.
    #[default]
    Fast,
    /// As in production: for crash tests and for benchmarks.
    Durable,
}

/// How to start a scratch server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub durability: Durability,
    pub max_connections: u16,
    /// Further configuration parameters; they win over ours.
    pub extra: Vec<(String, String)>,
    /// Where the server's directory is made; the directory for temporary files when not set.
    pub below: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            durability: Durability::Fast,
            max_connections: 200,
            extra: Vec::new(),
            below: None,
        }
    }
}

impl Settings {
    /// Everything on, as in production.
    pub fn durable() -> Self {
        Self {
            durability: Durability::Durable,
            ..Self::default()
        }
    }

    /// Adds a configuration parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra.push((name.into(), value.into()));
        self
    }

    /// Keeps the server's files below that directory, which its user must be able to enter.
    #[must_use]
    pub fn below(mut self, directory: impl Into<PathBuf>) -> Self {
        self.below = Some(directory.into());
        self
    }

    /// The lines to append to `postgresql.conf`, where the last value of a name wins. Not
    /// command line options: those would also win over a later `alter system`.
    pub(crate) fn configuration(&self, socket_dir: &Path, port: u16) -> String {
        let mut text = String::new();
        let mut set = |name: &str, value: &str| {
            let quoted = value.replace('\\', "\\\\").replace('\'', "''");
            writeln!(text, "{name} = '{quoted}'").expect("writing to a string cannot fail");
        };
        set("listen_addresses", "127.0.0.1");
        set("port", &port.to_string());
        set("unix_socket_directories", &socket_dir.to_string_lossy());
        set("max_connections", &self.max_connections.to_string());
        // Files in the data directory, as a killed server leaves segments in /dev/shm for ever.
        set("dynamic_shared_memory_type", "mmap");
        set("logging_collector", "off");
        set("timezone", "UTC");
        set("log_timezone", "UTC");
        if self.durability == Durability::Fast {
            set("fsync", "off");
            set("full_page_writes", "off");
            set("synchronous_commit", "off");
            // Nobody replicates from it, and bulk loads then skip the log.
            set("wal_level", "minimal");
            set("max_wal_senders", "0");
        }
        for (name, value) in &self.extra {
            set(name, value);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extra_setting_comes_last_and_is_quoted() {
        let settings = Settings::default().with("timezone", "it's");
        let text = settings.configuration(Path::new("/s"), 1);
        assert!(text.ends_with("timezone = 'it''s'\n"), "{text}");
    }

    #[test]
    fn a_durable_server_keeps_every_safety() {
        let text = Settings::durable().configuration(Path::new("/s"), 1);
        assert!(
            !text.contains("fsync") && !text.contains("synchronous_commit"),
            "{text}"
        );
    }
}
