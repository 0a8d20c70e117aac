//! The operators' surface, by URL.

pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod operator_keys;
pub(crate) mod reviews;
pub(crate) mod tenants;
