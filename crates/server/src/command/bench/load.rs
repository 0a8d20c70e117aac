//! `throughline bench load`.

use std::path::PathBuf;
use std::time::Duration;

use throughline_bench::{Guests, LoadPlan, Plan, Scenario, sustain};

use crate::failure::Failure;
use crate::output::{note, say};

/// Starts a throwaway Postgres that waits for the disk at every commit, and the service before it with its
/// default limits, and holds the load. Needs PostgreSQL's server programs. Every acknowledged turn is looked
/// up afterwards.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Appends a second
    #[arg(long, value_name = "N", default_value_t = 200)]
    appends: u32,
    /// Reads a second
    #[arg(long, value_name = "N", default_value_t = 200)]
    reads: u32,
    /// For how long
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Over so many tenants
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u8).range(1..=64))]
    tenants: u8,
    /// Connections that are opened and left alone
    #[arg(long, value_name = "N", default_value_t = 0)]
    idle: usize,
    /// Connections that send a byte of a request a second
    #[arg(long, value_name = "N", default_value_t = 0)]
    dripping: usize,
    /// Appends with channel kinds that nobody has heard of
    #[arg(long, value_name = "N", default_value_t = 0)]
    kinds: usize,
    /// Send a body of nearly 4 MiB every second
    #[arg(long)]
    bodies: bool,
    /// Start this binary's service in place of the own one: another release, or an optimised build
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Holds it and prints what came of it.
pub(super) async fn run(args: &Args) -> Result<(), Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::caused("no_binary", "the own program was not found", &error))?;
    let binary = args.binary.clone().unwrap_or(own);
    let plan = LoadPlan {
        stage: Plan {
            scenario: Scenario::Mixed,
            full: false,
            each: None,
            database_url: None,
            service_url: None,
            binary,
            python: PathBuf::from("python3"),
        },
        appends: f64::from(args.appends),
        reads: f64::from(args.reads),
        time: Duration::from_secs(args.seconds),
        tenants: args.tenants.into(),
        guests: Guests {
            idle: args.idle,
            dripping: args.dripping,
            kinds: args.kinds,
            bodies: args.bodies,
        },
    };
    let report = sustain(&plan, |line| note(line))
        .await
        .map_err(|error| Failure::caused("bench_failed", "the load has no result", &error))?;
    if args.json {
        return say(report.json());
    }
    say(&report)
}
