//! What an operator sets for the database.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

/// Everything needed to reach the database. [`PostgresConfig::new`] gives the defaults.
#[derive(Clone, Debug)]
pub struct PostgresConfig {
    /// `postgres://user:password@host:port/database?sslmode=…`. The parameters are those of
    /// `tokio-postgres`, and `sslmode` is `disable`, `prefer` (the default), `require` or
    /// `verify-full`.
    pub url: SecretString,
    /// Connections at most. Two to four for each core of the database serve better than many.
    pub pool_size: usize,
    /// How statements are sent.
    pub statement_mode: StatementMode,
    /// A statement that takes longer is given up.
    pub statement_timeout: Duration,
    /// A call that finds no free connection for that long is given up.
    pub pool_wait: Duration,
    /// A connection that cannot be made within this time is given up.
    pub connect_timeout: Duration,
    /// How appends become transactions.
    pub write_strategy: WriteStrategy,
    /// What the URL's `sslmode` cannot say.
    pub tls: TlsOptions,
}

/// How appends become transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStrategy {
    /// A few writers take whatever has queued and commit it together, each on a connection of its
    /// own beside the pool. Much faster under load, and no slower without.
    Group(WriterOptions),
    /// Each call is a transaction of its own on a connection of the pool.
    Direct,
}

/// The writers of [`WriteStrategy::Group`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// Writers, and connections for them. Tenants are split between them.
    pub writers: usize,
    /// Turns that may wait in all; more are refused as not stored. One tenant has half of them at
    /// most.
    pub queue_turns: usize,
    /// The bytes that may wait in all.
    pub queue_bytes: u64,
    /// A transaction holds the turns of one tenant only: for a database that is sharded by tenant.
    pub one_tenant_each: bool,
}

impl Default for WriterOptions {
    /// 2 writers, 10,000 turns, 64 MiB, tenants together.
    fn default() -> Self {
        Self {
            writers: 2,
            queue_turns: 10_000,
            queue_bytes: 64 * 1024 * 1024,
            one_tenant_each: false,
        }
    }
}

/// How statements are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatementMode {
    /// Prepared once per connection: about twice as fast. For a direct connection.
    #[default]
    Prepared,
    /// Without a name, parsed each time, and without session settings: works through a pooler in
    /// transaction mode, which hands each transaction to whichever session is free.
    Unnamed,
}

/// How the server proves who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// A PEM file with the certificates to trust in place of the system's. With it, `require` checks
    /// the server's certificate and name as `verify-full` does.
    pub root_certificates: Option<PathBuf>,
}

impl PostgresConfig {
    /// The defaults: 8 connections, prepared statements, 5 s a statement, 2 s for a free connection,
    /// 5 s to connect, two group writers, the system's root certificates.
    pub fn new(url: SecretString) -> Self {
        Self {
            url,
            pool_size: 8,
            statement_mode: StatementMode::default(),
            statement_timeout: Duration::from_secs(5),
            pool_wait: Duration::from_secs(2),
            connect_timeout: Duration::from_secs(5),
            write_strategy: WriteStrategy::Group(WriterOptions::default()),
            tls: TlsOptions::default(),
        }
    }

    pub(crate) fn address(&self) -> Result<Address, UrlFault> {
        Address::parse(self.url.expose_secret())
    }
}

/// The URL, with `sslmode` taken out: the driver does not know `verify-full`.
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) ssl_mode: SslMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SslMode {
    Disable,
    Prefer,
    Require,
    VerifyFull,
}

/// The URL cannot be used. The text never shows the URL: it holds the password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// Another scheme, or the `key=value` form.
    #[error("the database url must start with postgres:// or postgresql://")]
    Scheme,
    /// An `sslmode` that does not exist here.
    #[error("sslmode must be disable, prefer, require or verify-full")]
    SslMode,
    /// The driver cannot read it.
    #[error("the database url must read postgres://user:password@host:port/database")]
    Malformed,
}

impl Address {
    fn parse(url: &str) -> Result<Self, UrlFault> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(UrlFault::Scheme);
        }
        let mut ssl_mode = SslMode::Prefer;
        let Some((base, query)) = url.split_once('?') else {
            let url = url.to_owned();
            return Ok(Self { url, ssl_mode });
        };
        let mut kept = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.strip_prefix("sslmode=") {
                Some(word) => ssl_mode = SslMode::parse(word)?,
                None => kept.push(parameter),
            }
        }
        let url = match kept.as_slice() {
            [] => base.to_owned(),
            kept => format!("{base}?{}", kept.join("&")),
        };
        Ok(Self { url, ssl_mode })
    }
}

impl SslMode {
    fn parse(word: &str) -> Result<Self, UrlFault> {
        match word {
            "disable" => Ok(Self::Disable),
            "prefer" => Ok(Self::Prefer),
            "require" => Ok(Self::Require),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err(UrlFault::SslMode),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sslmode_is_taken_out_and_the_rest_stays() {
        let address =
            Address::parse("postgres://u@h/d?application_name=a&sslmode=verify-full&keepalives=1")
                .unwrap();
        assert_eq!(address.ssl_mode, SslMode::VerifyFull);
        assert_eq!(
            address.url,
            "postgres://u@h/d?application_name=a&keepalives=1"
        );
        let address = Address::parse("postgresql://u@h/d?sslmode=disable").unwrap();
        assert_eq!(
            (address.ssl_mode, address.url.as_str()),
            (SslMode::Disable, "postgresql://u@h/d")
        );
        assert_eq!(
            Address::parse("postgres://h/d").unwrap().ssl_mode,
            SslMode::Prefer
        );
    }

    #[test]
    fn an_unusable_url_is_refused_without_showing_it() {
        let fault = |url: &str| Address::parse(url).err();
        assert_eq!(fault("host=h password=p"), Some(UrlFault::Scheme));
        assert_eq!(fault("mysql://h/d"), Some(UrlFault::Scheme));
        assert_eq!(
            fault("postgres://h/d?sslmode=verify-ca"),
            Some(UrlFault::SslMode)
        );
    }

    #[test]
    fn debug_output_shows_no_url() {
        let config = PostgresConfig::new("postgres://u:hush@h/d".into());
        assert!(!format!("{config:?}").contains("hush"));
    }
}
