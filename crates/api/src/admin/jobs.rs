//! `/admin/jobs`

mod outbox;

pub(crate) use outbox::outbox;
