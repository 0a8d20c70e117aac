//! Lines of any length and any bytes, each either an append body with a key or a fault.

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// The longest line: what fits into a request of the default size, alone in its batch.
pub(super) const LINE_BYTES: usize = 4 * 1024 * 1024 - 64 * 1024;

/// A line that can be sent.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    /// Its number, from 1.
    pub(super) number: u64,
    /// The body as it was written.
    pub(super) text: String,
}

/// A line that cannot.
#[derive(Debug)]
pub(super) struct Bad {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Why.
    pub(super) fault: Fault,
}

/// Why a line is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// Too many bytes.
    #[error("the line has more than {LINE_BYTES} bytes")]
    TooLong,
    /// Not text.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// Text that is no JSON object.
    #[error("the line is not a JSON object: {0}")]
    NotJson(String),
    /// Nothing by which a second run could know the turn again.
    #[error(
        "the line has neither client_message_id nor turn_id, so a second run would store it twice"
    )]
    NoKey,
}

impl Fault {
    /// Its code in the rejects file.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::TooLong => "line_too_long",
            Self::NotUtf8 => "not_utf8",
            Self::NotJson(_) => "invalid_json",
            Self::NoKey => "no_key",
        }
    }
}

/// The lines of an input, blank ones left out.
pub(super) struct Lines<R> {
    reader: R,
    number: u64,
    bytes_read: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Starts at line 1.
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            number: 0,
            bytes_read: 0,
        }
    }

    /// How far it has come.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The next line that is not blank; `None` at the end.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Result<Checked, Bad>>> {
        while let Some(line) = self.raw().await? {
            let number = self.number;
            let checked = line.and_then(|bytes| check(bytes, number == 1));
            match checked {
                Ok(None) => {}
                Ok(Some(text)) => return Ok(Some(Ok(Checked { number, text }))),
                Err(fault) => return Ok(Some(Err(Bad { number, fault }))),
            }
        }
        Ok(None)
    }

    /// The next line's bytes. An over-long one is read to its end and never held.
    async fn raw(&mut self) -> std::io::Result<Option<Result<Vec<u8>, Fault>>> {
        let mut line = Vec::new();
        let mut too_long = false;
        let mut begun = false;
        loop {
            let buffer = self.reader.fill_buf().await?;
            if buffer.is_empty() && !begun {
                return Ok(None);
            }
            if !begun {
                begun = true;
                self.number += 1;
            }
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            too_long |= line.len() + part.len() > LINE_BYTES;
            if too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            let last = end.is_some() || buffer.is_empty();
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            self.bytes_read += used as u64;
            if last {
                return Ok(Some(if too_long {
                    Err(Fault::TooLong)
                } else {
                    Ok(line)
                }));
            }
        }
    }
}

#[derive(Deserialize)]
struct Keys<'a> {
    #[serde(borrow)]
    client_message_id: Option<&'a RawValue>,
    #[serde(borrow)]
    turn_id: Option<&'a RawValue>,
}

/// The line's text if it can be sent, `None` if it is blank. Only what would cost its neighbours in the
/// batch is looked for; what the turn says is for the service to judge.
fn check(bytes: Vec<u8>, first: bool) -> Result<Option<String>, Fault> {
    let text = String::from_utf8(bytes).map_err(|_| Fault::NotUtf8)?;
    // Some editors put a byte order mark in front of a file.
    let text = if first {
        text.trim_start_matches('\u{feff}')
    } else {
        &text
    }
    .trim();
    if text.is_empty() {
        return Ok(None);
    }
    // serde reads a list as the fields in their order; here it is a fault.
    if !text.starts_with('{') {
        return Err(Fault::NotJson("wrong at column 1".to_owned()));
    }
    let keys: Keys<'_> =
        serde_json::from_str(text).map_err(|error| Fault::NotJson(position(&error)))?;
    if keys.client_message_id.is_none() && keys.turn_id.is_none() {
        return Err(Fault::NoKey);
    }
    Ok(Some(text.to_owned()))
}

/// Where, without the parser's words: they can quote the value, which is somebody's content.
fn position(error: &serde_json::Error) -> String {
    let kind = if error.is_eof() {
        "it ends too early"
    } else {
        "wrong"
    };
    format!("{kind} at column {}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(input: &[u8]) -> Vec<(u64, Result<String, Fault>)> {
        // A small buffer, so that lines cross its edge.
        let mut lines = Lines::new(tokio::io::BufReader::with_capacity(7, input));
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(match line {
                Ok(checked) => (checked.number, Ok(checked.text)),
                Err(bad) => (bad.number, Err(bad.fault)),
            });
        }
        assert_eq!(lines.bytes_read(), input.len() as u64);
        found
    }

    #[tokio::test]
    async fn each_line_stands_for_itself() {
        let good = r#"{"client_message_id":"a"}"#;
        let mut input = format!("\u{feff}{good}\r\n\n[1]\n{{\"turn_id\":\"t\"}}\nnot json\n{{}}\n");
        input += "{\"client_message_id\":\"a\" \"b\"}\n";
        let mut input = input.into_bytes();
        input.extend_from_slice(b"\xff\xfe\n");
        input.extend_from_slice(good.as_bytes());
        let found = read(&input).await;
        let kinds: Vec<_> = found
            .iter()
            .map(|(number, line)| (*number, line.as_ref().map_or_else(Fault::code, |_| "ok")))
            .collect();
        assert_eq!(
            kinds,
            [
                (1, "ok"),
                (3, "invalid_json"),
                (4, "ok"),
                (5, "invalid_json"),
                (6, "no_key"),
                (7, "invalid_json"),
                (8, "not_utf8"),
                (9, "ok")
            ]
        );
        assert_eq!(found[0].1.as_deref(), Ok(good));
    }

    #[tokio::test]
    async fn an_over_long_line_is_passed_over() {
        let mut input = vec![b'x'; LINE_BYTES + 1];
        input.extend_from_slice(b"\n{\"turn_id\":1}");
        let found = read(&input).await;
        assert_eq!(found[0], (1, Err(Fault::TooLong)));
        assert_eq!(found[1], (2, Ok("{\"turn_id\":1}".to_owned())));
        assert_eq!(found.len(), 2);
    }

    #[tokio::test]
    async fn a_fault_does_not_quote_the_line() {
        let found = read(b"{\"a\": sentinel}").await;
        let fault = found[0].1.as_ref().unwrap_err().to_string();
        assert_eq!(fault, "the line is not a JSON object: wrong at column 7");
    }
}
