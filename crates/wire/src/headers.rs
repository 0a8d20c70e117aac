//! Headers of our own.

/// On every answer about a tenant: how often people were erased there. A client that sees another value
/// than before drops what it has cached of the tenant.
pub const ERASURE_EPOCH: &str = "x-erasure-epoch";
