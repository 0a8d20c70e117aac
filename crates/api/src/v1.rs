//! The tenants' surface, by URL.

pub(crate) mod history;
pub(crate) mod identities;
pub(crate) mod merges;
pub(crate) mod turns;
pub(crate) mod users;
