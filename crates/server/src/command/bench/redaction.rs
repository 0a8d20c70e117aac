//! `throughline bench redaction`.

use std::path::PathBuf;
use std::time::Duration;

use throughline_redaction::{Detector, bench};

use crate::command::redact::open;
use crate::failure::Failure;
use crate::output::say;

/// Rounds over the file take this long together; the fastest counts.
const BUDGET: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Text, or one object with a "text" a line, or - for standard input
    file: PathBuf,
}

/// Prints megabytes a second on one core.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let figures = bench(&Detector::default(), open(&args.file)?, BUDGET);
    let figures = figures.map_err(|error| {
        Failure::caused("unreadable_input", "the file could not be read", &error)
    })?;
    say(figures)
}
