//! The HTTP surface as a library: [`router()`] over the capability traits.
//!
//! Belongs here: routing, who may call what, reading requests, answering, HTTP limits and the metrics of
//! what was asked. Does not belong here: a provider, a listener, configuration, a shape of the wire.
//!
//! An endpoint is one file (under `v1`, `admin` or `operation`, at its URL) and one line of
//! `routes.rs`. A handler reaches the capabilities only through the extractors `caller::Tenant` and
//! `caller::Operator`, and those exist only after the line's access was checked.

mod admin;
mod admission;
mod append_counters;
mod authenticator;
mod body;
mod caller;
mod capabilities;
mod counters;
mod epoch;
mod failure;
mod gate;
mod observe;
mod openapi;
mod operation;
mod pages;
mod path;
mod query;
mod rate_limit;
mod request_id;
mod router;
mod routes;
mod settings;
mod shared;
mod v1;

pub use append_counters::AppendCounters;
pub use capabilities::{
    Capabilities, Draining, JobAsk, JobControl, JobRefusal, NotReady, StoreHealth,
};
pub use router::router;
pub use routes::{Access, RouteInfo, route_list};
pub use settings::{RateLimit, Settings};
