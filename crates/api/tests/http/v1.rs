//! `/v1/tenants/{tenant}/…`

mod context;
mod history;
mod identities;
mod one_person;
mod recent;
mod turns;
mod users;
