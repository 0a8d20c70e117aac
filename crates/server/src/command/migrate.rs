//! `throughline migrate`.

use crate::failure::Failure;
use crate::output::say;
use crate::settings::{DatabaseFlags, Environment, Loaded};
use crate::store;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: DatabaseFlags,
}

/// Applies the migrations that are outstanding; beside other processes that do the same it waits its
/// turn.
pub(crate) async fn run(args: &Args, environment: &Environment) -> Result<(), Failure> {
    let loaded = Loaded::load(&args.flags.0, environment)?;
    let report = store::migrate(&store::config(&loaded.settings)?).await?;
    say(report)
}
