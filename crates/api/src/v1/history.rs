//! `/v1/tenants/{tenant}/history`

mod clear;
mod read;

pub(crate) use clear::clear;
pub(crate) use read::read;
