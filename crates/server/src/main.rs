//! The one binary, `throughline`: it reads the configuration, puts a provider behind the API and runs
//! it, and holds the tools an operator needs beside it.
//!
//! Belongs here: composition, configuration, the command line, the process's life. Does not belong here:
//! what a capability does, SQL, what an endpoint answers. Only this crate names both providers.

mod api_client;
mod cli;
mod command;
mod failure;
mod jobs;
mod output;
mod queue;
mod server;
mod service;
mod settings;
mod store;
mod telemetry;

use std::process::ExitCode;

/// A turn is some eighty allocations on its way in; the system's allocator takes a fifth of the service's
/// time for them (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::complain(&failure);
            failure.status()
        }
    }
}
