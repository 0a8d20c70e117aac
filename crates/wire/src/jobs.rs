//! What running a job answers.

use serde::{Deserialize, Serialize};
use throughline_domain::TenantId;
use utoipa::ToSchema;

/// `POST /admin/jobs/{job}/run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobRunAnswer {
    /// The job.
    pub job: String,
    /// `done`: nothing is left to do. `partial`: the next run goes on. `failed`: it met an error, which
    /// stands in the log; what is listed was done.
    pub outcome: String,
    /// Whether nothing was changed and `done` says what would be.
    pub dry_run: bool,
    /// Tenants looked at.
    pub tenants: u64,
    /// Tenants left to another replica.
    pub left_to_others: u64,
    /// What was done, by tenant and pass; passes that found nothing are left out.
    pub done: Vec<JobDoneBody>,
}

/// One pass over one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobDoneBody {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant: TenantId,
    /// The pass, such as `ttl`.
    pub pass: String,
    /// Rows.
    pub rows: u64,
    /// Bytes they counted for.
    pub bytes: u64,
}
