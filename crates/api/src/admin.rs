//! The operators' surface, by URL.

pub(crate) mod audit;
pub(crate) mod claims;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod operator_keys;
pub(crate) mod outbox;
pub(crate) mod reviews;
pub(crate) mod tenants;
