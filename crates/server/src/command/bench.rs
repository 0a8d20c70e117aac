//! `throughline bench`: figures, measured where it runs.

mod redaction;
mod redaction_cost;

use crate::failure::Failure;
use crate::settings::Environment;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// How fast the detector is over a file, on one core
    Redaction(redaction::Args),
    /// What scanning adds to an append's CPU time, on dialogues
    RedactionCost(redaction_cost::Args),
}

pub(crate) async fn run(args: Args, environment: &Environment) -> Result<(), Failure> {
    match args.what {
        What::Redaction(args) => redaction::run(&args),
        What::RedactionCost(args) => redaction_cost::run(args, environment).await,
    }
}
