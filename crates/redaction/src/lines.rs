//! The line tool: one JSON object a line in, one a line out.

use std::io::{BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Detector, MaskPolicy, Span, mask_text};

/// What offsets count in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Offsets {
    /// Unicode code points, as Python counts.
    #[default]
    CodePoints,
    /// Bytes of UTF-8, as Rust and the store count.
    Bytes,
}

/// How lines are written.
#[derive(Clone, Debug, Default)]
pub struct LineOptions {
    /// What offsets count in.
    pub offsets: Offsets,
    /// Write masked text under this policy instead of spans.
    pub mask: Option<MaskPolicy>,
}

/// What has been read and found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LineSummary {
    /// Lines with a text.
    pub lines: usize,
    /// Bytes of those texts.
    pub bytes: usize,
    /// Spans found in them.
    pub spans: usize,
}

/// Why the tool stopped.
#[derive(Debug)]
pub enum LineError {
    /// Reading or writing failed.
    Io(std::io::Error),
    /// A line is no object with an `id` and a `text`.
    Line {
        /// Counted from one.
        number: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
}

impl std::fmt::Display for LineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(_) => f.write_str("reading or writing lines failed"),
            Self::Line { number, .. } => {
                write!(
                    f,
                    "line {number} must be a JSON object with an id and a text"
                )
            }
        }
    }
}

impl std::error::Error for LineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(source) => Some(source),
            Self::Line { source, .. } => Some(source),
        }
    }
}

impl From<std::io::Error> for LineError {
    fn from(source: std::io::Error) -> Self {
        Self::Io(source)
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    text: String,
}

/// Reads `{"id","text"}` lines and writes `{"id","spans":[{"start","end","type","score"}]}` lines, or
/// `{"id","text"}` with the text masked. Blank lines are skipped; the first bad line stops it.
pub fn redact_lines(
    detector: &Detector,
    reader: impl BufRead,
    mut writer: impl Write,
    options: &LineOptions,
) -> Result<LineSummary, LineError> {
    let mut summary = LineSummary::default();
    for (index, line) in reader.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let Line { id, text } = serde_json::from_str(&line).map_err(|source| LineError::Line {
            number: index + 1,
            source,
        })?;
        let spans = detector.scan_text(&text);
        summary.lines += 1;
        summary.bytes += text.len();
        summary.spans += spans.len();
        let answer = match &options.mask {
            Some(policy) => {
                let masked = mask_text(&text, &spans, policy)
                    .expect("spans of a scan always fit the text that was scanned");
                json!({ "id": id, "text": masked })
            }
            None => json!({ "id": id, "spans": printed(&text, &spans, options.offsets) }),
        };
        writeln!(writer, "{answer}")?;
    }
    writer.flush()?;
    Ok(summary)
}

fn printed(text: &str, spans: &[Span], offsets: Offsets) -> Vec<Value> {
    let mut counter = Counter {
        text,
        byte: 0,
        chars: 0,
    };
    let mut printed = Vec::with_capacity(spans.len());
    for span in spans {
        let (start, end) = match offsets {
            Offsets::Bytes => (span.start, span.end),
            Offsets::CodePoints => {
                let start = counter.advance(span.start);
                (start, start + text[span.start..span.end].chars().count())
            }
        };
        let score = (f64::from(span.score) * 100.0).round() / 100.0;
        printed.push(
            json!({ "start": start, "end": end, "type": span.entity.name(), "score": score }),
        );
    }
    printed
}

/// Counts code points once over the whole text; spans come in order of their start.
struct Counter<'t> {
    text: &'t str,
    byte: usize,
    chars: usize,
}

impl Counter<'_> {
    fn advance(&mut self, byte: usize) -> usize {
        self.chars += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.chars
    }
}

#[cfg(test)]
mod tests {
    use super::{LineError, LineOptions, Offsets, redact_lines};
    use crate::MaskPolicy;
    use crate::testing::DETECTOR;

    fn run(input: &str, options: &LineOptions) -> Result<String, LineError> {
        let mut output = Vec::new();
        redact_lines(&DETECTOR, input.as_bytes(), &mut output, options)?;
        Ok(String::from_utf8(output).unwrap())
    }

    const INPUT: &str = "{\"id\":7,\"text\":\"ß jo@example.com\"}\n\n";

    #[test]
    fn offsets_count_in_code_points_unless_bytes_are_wanted() {
        let points = run(INPUT, &LineOptions::default()).unwrap();
        assert_eq!(
            points,
            "{\"id\":7,\"spans\":[{\"end\":16,\"score\":0.95,\"start\":2,\"type\":\"EMAIL\"}]}\n"
        );
        let bytes = run(
            INPUT,
            &LineOptions {
                offsets: Offsets::Bytes,
                mask: None,
            },
        )
        .unwrap();
        assert!(
            bytes.contains("\"end\":17") && bytes.contains("\"start\":3"),
            "{bytes}"
        );
    }

    #[test]
    fn masked_text_is_written_when_asked_for() {
        let options = LineOptions {
            mask: Some(MaskPolicy::default()),
            ..LineOptions::default()
        };
        assert_eq!(
            run(INPUT, &options).unwrap(),
            "{\"id\":7,\"text\":\"ß [EMAIL]\"}\n"
        );
    }

    #[test]
    fn a_bad_line_is_named_by_its_number() {
        let error = run(
            "{\"id\":1,\"text\":\"a\"}\n{\"id\":2}\n",
            &LineOptions::default(),
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2 must be a JSON object with an id and a text"
        );
    }
}
