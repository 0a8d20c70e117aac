//! `throughline redact`: the detector over a file, without a service.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, stdin, stdout};
use std::path::{Path, PathBuf};

use throughline_redaction::{Detector, LineError, LineOptions, MaskPolicy, Offsets, redact_lines};

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What an offset counts
    #[arg(long, value_enum, default_value_t = Unit::Codepoint)]
    offsets: Unit,
    /// Write masked text in place of findings
    #[arg(long)]
    mask: bool,
    /// File with one {"id","text"} object a line, or - for standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Unit {
    /// Bytes of UTF-8
    Byte,
    /// Unicode code points
    Codepoint,
}

/// Writes a line for each line read. A reader that goes away early is no failure.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let options = LineOptions {
        offsets: match args.offsets {
            Unit::Byte => Offsets::Bytes,
            Unit::Codepoint => Offsets::CodePoints,
        },
        mask: args.mask.then(MaskPolicy::default),
    };
    let input = open(&args.file)?;
    let output = BufWriter::new(stdout().lock());
    match redact_lines(&Detector::default(), input, output, &options) {
        Ok(_) => Ok(()),
        Err(LineError::Io(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error @ LineError::Io(_)) => Err(Failure::caused(
            "unreadable_input",
            "the lines could not be read or written",
            &error,
        )),
        Err(error) => Err(Failure::caused("invalid_line", "a line is wrong", &error)),
    }
}

/// A file, or standard input.
pub(super) fn open(file: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if file == Path::new("-") {
        return Ok(Box::new(BufReader::new(stdin())));
    }
    let opened = File::open(file).map_err(|error| {
        let what = format!("{} cannot be read", file.display());
        Failure::caused("unreadable_input", &what, &error)
    })?;
    Ok(Box::new(BufReader::new(opened)))
}
