//! `/admin/tenants/{tenant}/reviews`

mod decide;
mod list;

pub(crate) use decide::{accept, decline};
pub(crate) use list::list;
