//! What became of the lines: the counts, and the file of refusals.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::failure::Failure;

/// The counts, and where refusals are written.
pub(super) struct Tally {
    stored: u64,
    duplicates: u64,
    rejected: u64,
    rejects: Option<(PathBuf, BufWriter<File>)>,
    fault: Option<Failure>,
}

impl Tally {
    /// Starts at zero; makes the file anew.
    pub(super) fn new(rejects: Option<&Path>) -> Result<Self, Failure> {
        let rejects = match rejects {
            None => None,
            Some(path) => {
                let file = File::create(path).map_err(|error| unwritable(path, &error))?;
                Some((path.to_owned(), BufWriter::new(file)))
            }
        };
        Ok(Self {
            stored: 0,
            duplicates: 0,
            rejected: 0,
            rejects,
            fault: None,
        })
    }

    /// A turn is stored, now or by an earlier run.
    pub(super) fn stored(&mut self, duplicate: bool) {
        if duplicate {
            self.duplicates += 1;
        } else {
            self.stored += 1;
        }
    }

    /// A line is refused for good.
    pub(super) fn reject(&mut self, line: u64, code: &str, detail: &str) {
        self.rejected += 1;
        if let Some((path, file)) = &mut self.rejects {
            let row = json!({"line": line, "code": code, "detail": detail});
            if let Err(error) = writeln!(file, "{row}") {
                self.fault = Some(unwritable(path, &error));
            }
        }
    }

    /// Why refusals cannot be written any more.
    pub(super) fn write_fault(&mut self) -> Option<Failure> {
        self.fault.take()
    }

    /// How many were refused.
    pub(super) fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Writes the refusals out.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        match &mut self.rejects {
            Some((path, file)) => file.flush().map_err(|error| unwritable(path, &error)),
            None => Ok(()),
        }
    }

    /// The line an import ends with.
    pub(super) fn summary(&self) -> String {
        let Self {
            stored,
            duplicates,
            rejected,
            ..
        } = self;
        format!("{stored} stored, {duplicates} duplicates, {rejected} rejected")
    }

    /// The same, for a bar.
    pub(super) fn short(&self) -> String {
        let turns = self.stored + self.duplicates;
        format!("{turns} turns, {} refused", self.rejected)
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let text = format!("{} cannot be written: {error}", path.display());
    Failure::failed("unwritable_file", text)
}
