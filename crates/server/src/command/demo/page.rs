//! How the demo looks: 80 columns, colour only on a terminal that wants it.

use std::io::IsTerminal as _;

use crate::failure::Failure;
use crate::output::say;

const WIDTH: usize = 80;

/// Writes the demo's lines.
pub(super) struct Page {
    colour: bool,
}

impl Page {
    /// For standard output as it is.
    pub(super) fn new() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            colour: std::io::stdout().is_terminal() && !refused,
        }
    }

    /// A heading with an empty line before it.
    pub(super) fn heading(&self, left: &str, right: &str) -> Result<(), Failure> {
        let gap = WIDTH
            .saturating_sub(left.chars().count() + right.chars().count())
            .max(1);
        let line = format!("{left}{}{right}", " ".repeat(gap));
        say(format_args!("\n{}", self.paint("1;36", line.trim_end())))
    }

    /// Somebody's words, indented behind their name.
    pub(super) fn speech(&self, who: &str, words: &str) -> Result<(), Failure> {
        let indent = 13;
        for (index, row) in wrapped(words, WIDTH - indent).iter().enumerate() {
            let name = if index == 0 { who } else { "" };
            say(format_args!(
                "  {}{row}",
                self.paint("1", &format!("{name:<11}"))
            ))?;
        }
        Ok(())
    }

    /// What the service did, set back.
    pub(super) fn aside(&self, text: &str) -> Result<(), Failure> {
        say(format_args!("  {}", self.paint("2", text)))
    }

    /// A block as it is.
    pub(super) fn block(&self, text: &str) -> Result<(), Failure> {
        for row in text.lines() {
            for (index, part) in wrapped(row, WIDTH - 4).iter().enumerate() {
                let hang = if index == 0 { "" } else { "  " };
                say(format_args!("{} {hang}{part}", self.paint("36", "  |")))?;
            }
        }
        Ok(())
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Rows of at most `width` characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut length = 0;
    for word in text.split_whitespace() {
        let chars = word.chars().count();
        if length > 0 && length + 1 + chars > width {
            rows.push(String::new());
            length = 0;
        }
        let row = rows.last_mut().expect("there is always a row");
        if length > 0 {
            row.push(' ');
            length += 1;
        }
        row.push_str(word);
        length += chars;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn rows_are_broken_between_words() {
        assert_eq!(wrapped("Säntis seats  six", 12), ["Säntis seats", "six"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("unbreakable a", 5), ["unbreakable", "a"]);
    }
}
