//! The service beside the database's own benchmark.

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use throughline_bench::{Plan, Row, Scenario};

use crate::failure::Failure;
use crate::output::{note, say};

/// Starts a throwaway Postgres that waits for the disk at every commit, and the service before it, and
/// lets the service and pgbench take turns. Needs PostgreSQL's server programs and pgbench. Ends with
/// status 0 when everything acknowledged was found, whatever the ratios are.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The documented sizes and times in place of short ones
    #[arg(long)]
    full: bool,
    /// Seconds for each single measurement, one round
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: Option<u64>,
    /// A database for the benchmark alone, in place of a throwaway one
    #[arg(
        long,
        value_name = "URL",
        env = "THROUGHLINE_BENCH_DATABASE_URL",
        hide_env_values = true
    )]
    database_url: Option<SecretString>,
    /// A service that runs on that database, in place of one that is started
    #[arg(long, value_name = "URL", requires = "database_url")]
    url: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write a bar chart
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Needs a Python with `langgraph-checkpoint-postgres` and `psycopg[binary]` besides.
#[derive(clap::Args)]
pub(super) struct LangGraphArgs {
    #[command(flatten)]
    measured: Args,
    /// The Python that has them
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
}

/// Measures and prints the table.
pub(super) async fn run(scenario: Scenario, args: &Args) -> Result<(), Failure> {
    measure(scenario, args, Path::new("python3")).await
}

/// The same beside LangGraph's store.
pub(super) async fn run_beside_langgraph(args: &LangGraphArgs) -> Result<(), Failure> {
    measure(Scenario::LangGraph, &args.measured, &args.python).await
}

async fn measure(scenario: Scenario, args: &Args, python: &Path) -> Result<(), Failure> {
    let binary = std::env::current_exe()
        .map_err(|error| Failure::caused("no_binary", "the own program was not found", &error))?;
    let plan = Plan {
        scenario,
        full: args.full,
        each: args.seconds.map(Duration::from_secs),
        database_url: args
            .database_url
            .as_ref()
            .map(|url| url.expose_secret().to_owned()),
        service_url: args.url.clone(),
        binary,
        python: python.to_owned(),
    };
    let report = throughline_bench::run(&plan, |line| note(line))
        .await
        .map_err(|error| Failure::caused("bench_failed", "the benchmark has no result", &error))?;
    if let Some(file) = &args.plot {
        std::fs::write(file, report.svg()).map_err(|error| {
            let text = format!("{} could not be written", file.display());
            Failure::caused("unwritable_plot", &text, &error)
        })?;
    }
    if args.json {
        return say(report.json());
    }
    say(&report)?;
    let missed = report
        .rows()
        .iter()
        .filter(|row| Row::met(row) == Some(false))
        .count();
    if missed > 0 {
        note(format_args!(
            "{missed} targets were missed; docs/performance.md says what is known of each"
        ));
    }
    Ok(())
}
