//! What a command tells: results on standard output, everything else on standard error.

use std::fmt::Display;
use std::io::{self, Write};

use crate::failure::Failure;

/// Writes one line of a command's result.
pub(crate) fn say(line: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::caused("unwritable_output", "standard output is gone", &error))
}

/// Writes one line beside the result. That nobody can read it is no reason to fail.
pub(crate) fn note(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes the line a failed command ends with.
pub(crate) fn complain(failure: &Failure) {
    note(format_args!("throughline: {failure}"));
}
