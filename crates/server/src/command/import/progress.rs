//! A bar on a terminal; nothing elsewhere.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::tally::Tally;

/// Shows how far the import has come.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar over that many bytes, a counter when the size is not known.
    pub(super) fn start(size: Option<u64>) -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(size, target);
        let template = match size {
            Some(_) => "{bar:30} {percent:>3} %  {msg}  {eta} left",
            None => "{spinner} {bytes}  {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Moves it on.
    pub(super) fn at(&self, bytes: u64, tally: &Tally) {
        self.0.set_position(bytes);
        self.0.set_message(tally.short());
    }

    /// Says why nothing moves.
    pub(super) fn waiting(&self, reason: &str) {
        self.0.set_message(reason.to_owned());
        self.0.tick();
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
