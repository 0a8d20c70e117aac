//! `throughline job`: one run of a job, straight in the database. It works beside running services: they
//! and it claim one tenant at a time.

use std::time::Duration;

use throughline_append_queue::Report as Drained;
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
    job: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Delete what has ended or is over a cap
    Gc {
        /// Only say what would be deleted
        #[arg(long)]
        dry_run: bool,
        /// Only for this tenant
        #[arg(long, value_name = "TENANT")]
        tenant: Option<String>,
    },
    /// Store what waits in the outbox; a spool is emptied by the service that has it open
    Outbox,
}

/// A run by hand has all the time it needs; an interrupt ends it between two transactions.
const LONGEST: Duration = Duration::from_hours(24);

pub(crate) async fn run(
    Args { flags, json, job }: Args,
    environment: &Environment,
) -> Result<(), Failure> {
    let request = request(&job)?;
    let dry_run = request.dry_run;
    let loaded = Loaded::load(&flags.0, environment)?;
    let config = store::config(&loaded.settings)?;
    let store = store::connect(config, &prometheus::Registry::new())?;
    store::check(&store).await?;
    let job = match job {
        Command::Gc { .. } => jobs::gc(&store, &loaded.settings)?,
        Command::Outbox => jobs::outbox(&store)?,
    };
    let context = JobContext::until(Instant::now() + LONGEST).asked(request);
    let interrupted = async {
        // Without a handler the process ends at once, which is safe too: every step is whole.
        if tokio::signal::ctrl_c().await.is_ok() {
            context.stop();
        }
        std::future::pending::<()>().await;
    };
    let report = tokio::select! {
        report = job.run(&context) => report,
        () = interrupted => unreachable!("it is pending for ever"),
    };
    store.close().await;
    tell(job.name(), dry_run, json, &report)
}

fn request(job: &Command) -> Result<Request, Failure> {
    let Command::Gc { dry_run, tenant } = job else {
        return Ok(Request::default());
    };
    let tenant = tenant.as_deref().map(TenantId::parse).transpose();
    Ok(Request {
        dry_run: *dry_run,
        tenant: tenant.map_err(|fault| Failure::usage("wrong_usage", fault.to_string()))?,
    })
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
    if let Some(drained) = &report.queue {
        return format!(
            "{job} {}: {}",
            report.outcome.as_str(),
            drained_words(drained)
        );
    }
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

fn drained_words(drained: &Drained) -> String {
    let Drained {
        stored,
        duplicates,
        dropped,
        waiting,
        dead,
        expired,
        away,
        ..
    } = drained;
    let away = if *away {
        "; the store is away, what waits goes on waiting"
    } else {
        ""
    };
    format!(
        "{stored} stored, {duplicates} stored before, {dropped} dropped, {waiting} to be tried again, \
         {dead} dead, {expired} dead letters expired{away}"
    )
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

    #[test]
    fn a_drain_is_told_in_one_line() {
        let mut report = Report::empty();
        report.outcome = Outcome::Partial;
        report.queue = Some(Drained {
            stored: 3,
            dead: 1,
            away: true,
            ..Drained::default()
        });
        assert_eq!(
            words("outbox", false, &report),
            "outbox partial: 3 stored, 0 stored before, 0 dropped, 0 to be tried again, 1 dead, \
             0 dead letters expired; the store is away, what waits goes on waiting"
        );
    }
}
