//! `/v1/tenants/{tenant}/outbox`

mod enqueue;

pub(crate) use enqueue::enqueue;
