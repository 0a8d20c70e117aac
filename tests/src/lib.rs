//! Helpers for the tests in `it/`: a `throughline` process, an HTTP client that speaks JSON, a tenant to
//! speak for, and a line that breaks.
//!
//! Belongs here: what starts, watches and stops the real binary. Does not belong here: what a
//! provider or the router promises, which is tested beside them.

mod binary;
mod fault_proxy;
mod http;
mod service;
mod tenant;
mod turns;

pub use binary::{Finished, example, throughline, throughline_command};
pub use fault_proxy::{Fault, FaultProxy};
pub use http::{Answer, Client};
pub use service::Service;
pub use tenant::{CLIENT_SCOPES, World, migrated_database, operator_key, tenant_client};
pub use turns::{append_body, recent_texts, recent_turns};

/// The schema's template database: one name for one set of migrations.
pub const TEMPLATE: &str = "throughline schema";
