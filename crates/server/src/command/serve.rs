//! `throughline serve`: from the settings to a process that stops when it is told to.

mod database;
mod dev;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::output::say;
use crate::server::{self, Signals, Stopped};
use crate::service::{Service, limits};
use crate::settings::{AllFlags, Environment, Loaded, Settings};
use crate::telemetry;

/// How long a job may still take for the step it is at, once every request was answered.
const JOBS_GRACE: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: AllFlags,
    /// Print the settings in force with their sources, secrets masked, and end
    #[arg(long)]
    print_config: bool,
}

/// Serves until a signal.
pub(crate) async fn run(args: &Args, environment: &Environment) -> Result<(), Failure> {
    let loaded = Loaded::load(&args.flags.0, environment)?;
    if args.print_config {
        return say(loaded.printed().trim_end());
    }
    let settings = &loaded.settings;
    // Before anybody is told that we listen: a signal that comes early must not be the end.
    let signals = Signals::listen()?;
    telemetry::start(settings.log_format, &settings.log_filter);
    for name in &loaded.unknown_env {
        tracing::warn!(
            variable = name,
            "this variable is no setting; throughline serve --help lists them"
        );
    }
    match (settings.dev, settings.database_url.is_some()) {
        (true, true) => Err(Failure::usage(
            "ambiguous_store",
            "--dev serves from memory, but a database address is set too; unset one of them",
        )),
        (true, false) if settings.migrate => Err(Failure::usage(
            "ambiguous_store",
            "--dev serves from memory, which has no schema to migrate; leave out --dev or --migrate",
        )),
        (true, false) => dev::serve(settings, signals).await,
        (false, _) => database::serve(settings, signals).await,
    }
}

async fn bind(settings: &Settings) -> Result<(TcpListener, SocketAddr), Failure> {
    let unusable = |error: std::io::Error| {
        let text = format!(
            "{} cannot be listened on: {error}; choose another --listen",
            settings.listen
        );
        Failure::failed("address_unusable", text)
    };
    let listener = TcpListener::bind(settings.listen).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    Ok((listener, address))
}

/// Serves until a signal, then goes down; an error when requests had to be cut.
async fn until_stopped(
    listener: TcpListener,
    service: Service,
    settings: &Settings,
    signals: Signals,
) -> Result<(), Failure> {
    let Service {
        queue,
        router,
        draining,
        jobs,
    } = service;
    let not_ready = || {
        draining.start();
        jobs.begin_stop();
    };
    let stopped = server::serve(listener, router, limits(settings), signals, not_ready).await;
    // They were told when the signal came; a step that is being done has had all that time.
    if !jobs.stop(JOBS_GRACE).await {
        tracing::warn!("a job did not stop in time and was dropped between two transactions");
    }
    // After the last request: whatever it queued is on disk before the file is closed.
    queue.close().await;
    match stopped {
        Stopped::Clean => {
            tracing::info!("stopped; every request was answered");
            Ok(())
        }
        Stopped::DeadlinePassed { cut } => Err(Failure::failed(
            "requests_cut",
            format!("the shutdown deadline passed; {cut} connections were cut while busy"),
        )),
        Stopped::Hurried { cut } => Err(Failure::failed(
            "requests_cut",
            format!("a second signal came; {cut} connections were cut"),
        )),
    }
}
