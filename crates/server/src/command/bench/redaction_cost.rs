//! `throughline bench redaction-cost`.

use std::path::PathBuf;
use std::sync::Arc;

use prometheus::Registry;
use throughline_conversation_memory::ConversationMemory;
use throughline_domain::{SystemClock, SystemIds};
use throughline_platform_identity::PlatformIdentity;
use throughline_redacted_memory::cost::{Cost, Said, dense, measure, read};
use throughline_tenancy::Tenancy;

use crate::command::redact::open;
use crate::failure::Failure;
use crate::output::say;
use crate::service;
use crate::settings::{DatabaseFlags, Environment, Loaded};
use crate::store;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: DatabaseFlags,
    /// One object with `user_message` and `assistant_answer` a line, or - for standard input
    file: PathBuf,
    /// Measure the Postgres of --database-url too; it gets two tenants of random names
    #[arg(long)]
    postgres: bool,
    /// How often everything is appended in each mode
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
}

/// Prints a line for each store and kind of turn.
pub(crate) async fn run(args: Args, environment: &Environment) -> Result<(), Failure> {
    let real = read(open(&args.file)?);
    let real = real.map_err(|fault| Failure::caused("invalid_line", "a line is wrong", &*fault))?;
    let dense = dense(real.len());
    let kinds = [("real dialogues", &real), ("dense turns", &dense)];
    for (kind, said) in kinds {
        let cost = cost(&service::in_memory(), said, args.rounds).await?;
        say(format_args!("in memory, {kind}: {cost}"))?;
    }
    if args.postgres {
        let loaded = Loaded::load(&args.flags.0, environment)?;
        let database = store::connect(store::config(&loaded.settings)?, &Registry::new())?;
        store::check(&database).await?;
        for (kind, said) in kinds {
            let cost = cost(&database, said, args.rounds).await?;
            say(format_args!("postgres, {kind}: {cost}"))?;
        }
        database.close().await;
    }
    Ok(())
}

async fn cost<S>(store: &Arc<S>, said: &[Said], rounds: u32) -> Result<Cost, Failure>
where
    S: Tenancy + PlatformIdentity + ConversationMemory + 'static,
{
    let cost = measure(store, (Arc::new(SystemClock), &SystemIds), said, rounds).await;
    cost.map_err(|fault| Failure::caused("bench_failed", "the store cannot be measured", &*fault))
}
