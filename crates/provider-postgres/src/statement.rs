//! A statement as a value: its name, its text, its parameters, and whose rows it may touch.
//!
//! The three kinds are types, so that a session cannot run a tenant's statement without a tenant
//! (design 2): the tenant goes into `$1` by the session, never by the caller.

use tokio_postgres::types::Type;

use crate::{
    audit, erasure, identity, memory, outbox, redaction_queue, retention, schema_status, tenancy,
};

/// One SQL text. It starts with `-- name`, and the same name stands in the metrics.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    /// The types of all parameters, `$1` included: unnamed statements send them along.
    pub(crate) params: &'static [Type],
}

/// Bound to one tenant: `$1` is its name.
#[derive(Debug)]
pub(crate) struct ForTenant(pub(crate) Statement);

/// Over rows of several tenants: `$1` is an array of each row's tenant.
#[derive(Debug)]
pub(crate) struct ForTenants(pub(crate) Statement);

/// An operator's or the service's own: touches no tenant's rows, or lists the tenants.
#[derive(Debug)]
pub(crate) struct ForOperator(pub(crate) Statement);

/// Every statement of this crate; a test walks them.
pub(crate) fn all() -> impl Iterator<Item = &'static Statement> {
    let one = [
        tenancy::FOR_TENANT,
        identity::FOR_TENANT,
        memory::FOR_TENANT,
        outbox::FOR_TENANT,
        retention::FOR_TENANT,
        redaction_queue::FOR_TENANT,
        audit::FOR_TENANT,
        erasure::FOR_TENANT,
    ];
    let rows = memory::FOR_TENANTS;
    let operator = [
        tenancy::FOR_OPERATOR,
        outbox::FOR_OPERATOR,
        schema_status::FOR_OPERATOR,
        retention::FOR_OPERATOR,
        redaction_queue::FOR_OPERATOR,
    ];
    let one = one.into_iter().flatten().map(|statement| &statement.0);
    let rows = rows.into_iter().flatten().map(|statement| &statement.0);
    let operator = operator.into_iter().flatten().map(|statement| &statement.0);
    one.chain(rows).chain(operator)
}
