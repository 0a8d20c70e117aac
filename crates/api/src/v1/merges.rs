//! `/v1/tenants/{tenant}/merges`

mod list;
mod merge;
mod undo;

pub(crate) use list::list;
pub(crate) use merge::merge;
pub(crate) use undo::undo;
