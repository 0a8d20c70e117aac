//! `POST /admin/jobs/{job}/run`

use throughline_domain::TenantId;
use throughline_wire::{Code, JobRunAnswer, Place, Problem};

use crate::body::NoBody;
use crate::caller::Operator;
use crate::failure::Failure;
use crate::path::PathJob;
use crate::query::Query;
use crate::{JobAsk, JobRefusal};

/// Runs it now, `?dry_run=true` only looks, `?tenant=` is for one tenant. Another name is refused: a
/// mistyped one would sweep what was to be looked at, or everybody.
pub(crate) async fn run(
    operator: Operator,
    PathJob(job): PathJob,
    query: Query,
    _: NoBody,
) -> Result<axum::Json<JobRunAnswer>, Failure> {
    query.only(&["dry_run", "tenant"])?;
    let ask = JobAsk {
        dry_run: query.switch("dry_run")?,
        tenant: tenant(&query)?,
    };
    if let Some(tenant) = &ask.tenant {
        let known = operator.tenancy().tenant(tenant).await?;
        known.ok_or_else(|| Failure::unknown_tenant(&format!("there is no tenant {tenant}")))?;
    }
    let ran = operator.jobs().run_now(&job, ask).await;
    Ok(axum::Json(ran.map_err(refused)?))
}

/// A name that no tenant can have is one that no tenant has.
fn tenant(query: &Query) -> Result<Option<TenantId>, Problem> {
    let name = query.text("tenant")?;
    let tenant = name.map(|name| TenantId::parse(&name)).transpose();
    tenant.map_err(|fault| Place::Parameter("tenant").invalid(fault.to_string()))
}

fn refused(refusal: JobRefusal) -> Failure {
    match refusal {
        JobRefusal::UnknownJob(there_are) => {
            let detail = format!("there is no such job; there are {}", there_are.join(", "));
            Failure::new(Code::UnknownJob, detail)
        }
        JobRefusal::CannotBeAsked { parameter, detail } => {
            Place::Parameter(parameter).invalid(detail).into()
        }
        JobRefusal::Running => Failure::new(Code::JobRunning, "the job is running already"),
        JobRefusal::Stopping => Failure::unavailable("the service is stopping"),
        JobRefusal::Away(error) => Failure::unavailable(error),
        JobRefusal::Broken(error) => Failure::internal(error),
    }
}
