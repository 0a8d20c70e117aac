//! `/admin/tenants/{tenant}/keys`

mod list;
mod mint;
mod revoke;

pub(crate) use list::list;
pub(crate) use mint::mint;
pub(crate) use revoke::revoke;
