//! The surface driven in process over the in-memory provider; one module per URL, the others are about
//! what holds for every route.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod admin;
mod authorisation;
mod bodies;
mod counters;
mod documentation;
mod doubles;
mod limits;
mod logs;
mod operation;
mod problems;
mod redaction;
mod request_ids;
mod revocation;
mod service;
mod socket;
mod sweep;
mod v1;
