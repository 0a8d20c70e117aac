//! `throughline bench`: figures, measured where it runs.

mod load;
mod redaction;
mod redaction_cost;
mod service;

use throughline_bench::Scenario;

use crate::failure::Failure;
use crate::settings::Environment;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Appends by 1, 64 and 256 callers over 64 tenants
    Append(service::Args),
    /// 64 callers append for one user
    HotUser(service::Args),
    /// The latest 20 turns out of many
    Recent(service::Args),
    /// Reads and appends together
    Mixed(service::Args),
    /// One tenant at its limit beside others
    NoisyNeighbour(service::Args),
    /// A user with 10,000 turns beside one with few
    Growth(service::Args),
    /// A sweep over a million turns of which half have ended, alone and beside appends
    Gc(service::Args),
    /// Appends through the library beside puts into LangGraph's store
    Langgraph(service::LangGraphArgs),
    /// Appends and reads at a rate that is held, if need be beside guests who behave badly
    Load(load::Args),
    /// How fast the detector is over a file, on one core
    Redaction(redaction::Args),
    /// What scanning adds to an append's CPU time, on dialogues
    RedactionCost(redaction_cost::Args),
}

pub(crate) async fn run(args: Args, environment: &Environment) -> Result<(), Failure> {
    match args.what {
        What::Append(args) => service::run(Scenario::Append, &args).await,
        What::HotUser(args) => service::run(Scenario::HotUser, &args).await,
        What::Recent(args) => service::run(Scenario::Recent, &args).await,
        What::Mixed(args) => service::run(Scenario::Mixed, &args).await,
        What::NoisyNeighbour(args) => service::run(Scenario::NoisyNeighbour, &args).await,
        What::Growth(args) => service::run(Scenario::Growth, &args).await,
        What::Gc(args) => service::run(Scenario::Gc, &args).await,
        What::Langgraph(args) => service::run_beside_langgraph(&args).await,
        What::Load(args) => load::run(&args).await,
        What::Redaction(args) => redaction::run(&args),
        What::RedactionCost(args) => redaction_cost::run(args, environment).await,
    }
}
