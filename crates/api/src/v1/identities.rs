//! `/v1/tenants/{tenant}/identities`

mod lookup;
mod resolve;

pub(crate) use lookup::lookup;
pub(crate) use resolve::resolve;
