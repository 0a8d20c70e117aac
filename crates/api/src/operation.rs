//! What whoever runs the process asks.

mod livez;
mod metrics;
mod openapi;
mod readyz;

pub(crate) use livez::livez;
pub(crate) use metrics::metrics;
pub(crate) use openapi::openapi;
pub(crate) use readyz::readyz;
