//! A throwaway PostgreSQL server for tests and benchmarks.
mod account;
mod cluster;
mod connection_url;
mod error;
mod installation;
mod processes;
mod psql;
mod scratch_dir;
mod server;
mod settings;

pub use error::Error;
pub use installation::Installation;
pub use server::Server;
pub use settings::{Durability, Settings};
