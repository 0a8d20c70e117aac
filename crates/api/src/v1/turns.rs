//! `/v1/tenants/{tenant}/turns`

mod append;
mod author;
mod batch;
mod outcome;
pub(crate) mod queue;

pub(crate) use append::{append, minted_key};
pub(crate) use batch::batch;
