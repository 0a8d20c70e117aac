//! `/v1/tenants/{tenant}/turns`

mod append;
mod author;
mod batch;
mod outcome;

pub(crate) use append::append;
pub(crate) use batch::batch;
