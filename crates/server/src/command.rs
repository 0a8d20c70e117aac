//! The commands, one file each.

pub(crate) mod admin;
pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod import;
pub(crate) mod job;
pub(crate) mod migrate;
pub(crate) mod redact;
pub(crate) mod serve;
pub(crate) mod version;
