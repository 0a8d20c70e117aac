//! `/v1/tenants/{tenant}/…`

mod context;
mod history;
mod identities;
mod recent;
mod turns;
mod users;
