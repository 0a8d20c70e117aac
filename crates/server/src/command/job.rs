//! `throughline job`: one run of a job, straight in the database. It works beside running services: they
//! and it claim one tenant at a time.

use std::time::Duration;

use throughline_domain::TenantId;
use throughline_jobs::{JobContext, Outcome, Report, Request};
use tokio::time::Instant;

use crate::failure::{Failure, chain};
use crate::jobs;
use crate::output::say;
use crate::settings::{DatabaseFlags, Environment, Loaded};
use crate::store;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: DatabaseFlags,
    /// Print JSON, in the shape of the HTTP surface
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    job: Job,
}

#[derive(clap::Subcommand)]
enum Job {
    /// Delete what has ended or is over a cap
    Gc {
        /// Only say what would be deleted
        #[arg(long)]
        dry_run: bool,
        /// Only for this tenant
        #[arg(long, value_name = "TENANT")]
        tenant: Option<String>,
    },
}

/// A sweep by hand has all the time it needs; an interrupt ends it between two transactions.
const LONGEST: Duration = Duration::from_hours(24);

pub(crate) async fn run(
    Args { flags, json, job }: Args,
    environment: &Environment,
) -> Result<(), Failure> {
    let Job::Gc { dry_run, tenant } = job;
    let tenant = tenant.as_deref().map(TenantId::parse).transpose();
    let tenant = tenant.map_err(|fault| Failure::usage("wrong_usage", fault.to_string()))?;
    let loaded = Loaded::load(&flags.0, environment)?;
    let config = store::config(&loaded.settings)?;
    let store = store::connect(config, &prometheus::Registry::new())?;
    store::check(&store).await?;
    let context = JobContext::until(Instant::now() + LONGEST).asked(Request { dry_run, tenant });
    let interrupted = async {
        // Without a handler the process ends at once, which is safe too: every chunk is whole.
        if tokio::signal::ctrl_c().await.is_ok() {
            context.stop();
        }
        std::future::pending::<()>().await;
    };
    let swept = tokio::select! {
        swept = jobs::sweep_once(&store, &loaded.settings, &context) => swept,
        () = interrupted => unreachable!("it is pending for ever"),
    };
    store.close().await;
    tell("gc", dry_run, json, &swept?)
}

fn tell(job: &str, dry_run: bool, json: bool, report: &Report) -> Result<(), Failure> {
    if json {
        let answer = jobs::answer(job, dry_run, report);
        let text = serde_json::to_string(&answer);
        say(text.map_err(|error| {
            Failure::caused("unprintable", "the answer cannot be printed", &error)
        })?)?;
    } else {
        say(words(job, dry_run, report))?;
    }
    match &report.outcome {
        Outcome::Failed(error) => Err(Failure::failed("job_failed", chain(&**error))),
        Outcome::Done | Outcome::Partial => Ok(()),
    }
}

/// A line for each tenant and pass, and one for the whole.
fn words(job: &str, dry_run: bool, report: &Report) -> String {
    let verb = if dry_run { "would delete" } else { "deleted" };
    let mut lines: Vec<String> = Vec::new();
    for done in &report.done {
        let verb = if done.pass == "restamp" {
            "moved the end of"
        } else {
            verb
        };
        lines.push(format!(
            "{}  {}  {verb} {} rows, {} bytes",
            done.tenant, done.pass, done.rows, done.bytes
        ));
    }
    let others = match report.left_to_others {
        0 => String::new(),
        others => format!(", {others} left to another process"),
    };
    lines.push(format!(
        "{job} {}: {} tenants looked at{others}",
        report.outcome.as_str(),
        report.tenants
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use throughline_jobs::Done;

    use super::*;

    #[test]
    fn a_run_is_told_by_tenant_and_pass() {
        let mut report = Report::empty();
        report.tenants = 2;
        report.left_to_others = 1;
        report.done.push(Done {
            tenant: TenantId::parse("acme").unwrap(),
            pass: "ttl",
            rows: 3,
            bytes: 15,
        });
        let told = words("gc", true, &report);
        assert_eq!(
            told,
            "acme  ttl  would delete 3 rows, 15 bytes\n\
             gc done: 2 tenants looked at, 1 left to another process"
        );
    }
}
