//! `throughline version`.

use serde_json::json;

use crate::failure::Failure;
use crate::output::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the version, the target, the profile and the compiler.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let target = env!("THROUGHLINE_TARGET");
    let profile = env!("THROUGHLINE_PROFILE");
    let rustc = env!("THROUGHLINE_RUSTC");
    if args.json {
        return say(json!({
            "version": version, "target": target, "profile": profile, "rustc": rustc,
        }));
    }
    say(format_args!(
        "throughline {version} ({target}, {profile}, {rustc})"
    ))
}
