//! How a command ends when it does not succeed: one line, a stable code, an exit status.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// A command that did not do what it was asked. Prints as one line: the code, what happened, what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    code: &'static str,
    text: String,
    status: u8,
}

impl Failure {
    /// The command was right and the work failed: exit status 1.
    pub(crate) fn failed(code: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            code,
            text,
            status: 1,
        }
    }

    /// The command line or the configuration is wrong: exit status 2, and nothing was done.
    pub(crate) fn usage(code: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            code,
            text,
            status: 2,
        }
    }

    /// A failure with an error's whole chain in its line.
    pub(crate) fn caused(code: &'static str, what: &str, error: &(dyn Error + 'static)) -> Self {
        Self::failed(code, format!("{what}: {}", chain(error)))
    }

    /// The exit status.
    pub(crate) fn status(&self) -> ExitCode {
        ExitCode::from(self.status)
    }

    #[cfg(test)]
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A driver's text may hold line ends; whoever reads a log by line gets one line.
        let text = self.text.replace(['\n', '\r'], " ");
        write!(f, "{}: {text}", self.code)
    }
}

/// An error and its sources in one line; a source that its parent already quoted is left out.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let part = error.to_string();
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn a_failure_is_one_line_with_its_causes() {
        let cause = Outer(std::io::Error::other("disk\nfull"));
        let failure = Failure::caused("unwritable", "the file was not written", &cause);
        assert_eq!(
            failure.to_string(),
            "unwritable: the file was not written: outer: disk full"
        );
    }
}
