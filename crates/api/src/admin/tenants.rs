//! `/admin/tenants`

mod configure;
mod create;
mod list;
mod read;
mod revision;

pub(crate) use configure::{change, replace};
pub(crate) use create::create;
pub(crate) use list::list;
pub(crate) use read::read;
