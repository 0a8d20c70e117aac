//! `/admin/tenants/{tenant}/claims`

mod revoke;

pub(crate) use revoke::revoke;
