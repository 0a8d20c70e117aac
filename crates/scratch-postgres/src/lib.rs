//! A throwaway Postgres server for tests and benchmarks that leaves nothing behind.
//!
//! The programs come from an installed Postgres (version 13 or later), found by
//! [`Installation::find`]; a clear error says what to install. As root the server runs as
//! `postgres` or `nobody`. Everything is in one directory of mode 0700 below the directory for
//! temporary files. A reaper, a small process of its own, is started before anything else: when
//! the owner ends in whatever way, SIGKILL included, it ends the server and removes the directory.
//!
//! - [`Server`]: a server of one owner, for benchmarks and for crash tests, which can kill, pause
//!   and restart it.
//! - [`Shared`]: one server for all processes of a test run, and a [`Database`] per test, copied
//!   from a template. This is what ordinary tests use.
//! - [`PgBouncer`]: a transaction-mode pooler in front of either.
//!
//! ```no_run
//! # fn migrate(url: &str) -> Result<(), std::io::Error> { Ok(()) }
//! use throughline_scratch_postgres::{Error, Server, Settings, Shared};
//!
//! # fn main() -> Result<(), Error> {
//! let server = Server::start(Settings::durable())?;
//! server.psql("postgres", "create table t (n int);")?;
//! server.kill()?;
//! server.restart()?;
//!
//! let database = Shared::attach()?.database_from_template("schema 7", |url| migrate(url))?;
//! println!("{}", database.url());
//! # Ok(())
//! # }
//! ```
//!
//! In an asynchronous test:
//!
//! ```no_run
//! # async fn migrate(url: &str) -> Result<(), std::io::Error> { Ok(()) }
//! # async fn test() -> Result<(), throughline_scratch_postgres::Error> {
//! let shared = throughline_scratch_postgres::Shared::attach()?;
//! let database = shared
//!     .database_from_template_async("schema 7", async |url: &str| migrate(url).await)
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! Environment: `CCM_TEST_DATABASE_URL` is a server to use for [`Shared`] instead of starting one
//! (the run's databases on it are dropped at the end); `CCM_TEST_PG_BIN` is the directory of the
//! programs to use.
//!
//! What does not belong here: a database driver, migrations, and anything that knows what is
//! stored. The functions block; the crate needs no runtime.

mod account;
mod cluster;
mod connection_url;
mod database;
mod error;
mod installation;
mod pooler;
mod processes;
mod psql;
mod run_dir;
mod scratch_dir;
mod server;
mod settings;
mod shared;
mod template;

pub use database::Database;
pub use error::Error;
pub use installation::Installation;
pub use pooler::PgBouncer;
pub use server::Server;
pub use settings::{Durability, Settings};
pub use shared::Shared;
pub use template::{Missing, Ready, Template};
