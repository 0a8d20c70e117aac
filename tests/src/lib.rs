//! Helpers for the tests in `it/`: a `throughline` process and an HTTP client that speaks JSON.
//!
//! Belongs here: what starts, watches and stops the real binary. Does not belong here: what a
//! provider or the router promises, which is tested beside them.

mod binary;
mod http;
mod service;

pub use binary::{Finished, throughline};
pub use http::{Answer, Client};
pub use service::Service;

/// The schema's template database: one name for one set of migrations.
pub const TEMPLATE: &str = "throughline schema";
