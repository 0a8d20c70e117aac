//! `/v1/tenants/{tenant}/turns`

mod append;
mod batch;
mod failures;
mod queue;
