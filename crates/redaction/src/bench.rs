//! How fast a detector is, on real text and on text made to be slow.

use std::io::BufRead;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Detector;

/// What one measurement gave, on one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Texts in one round.
    pub texts: usize,
    /// Bytes in one round.
    pub bytes: usize,
    /// Spans in one round.
    pub spans: usize,
    /// The fastest round; every stretch of texts counts with its own fastest time.
    pub best: Duration,
}

impl Figures {
    /// Megabytes (10⁶ bytes) a second in the fastest round.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure for people, good to many more digits than are shown"
    )]
    pub fn megabytes_per_second(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.best.as_secs_f64().max(1e-9)
    }

    /// Scans the texts over and over for about `budget`, at least once.
    pub fn measure(detector: &Detector, texts: &[String], budget: Duration) -> Self {
        // A stretch is short, so that on a busy machine some run of it is not interrupted.
        const STRETCH: usize = 64;
        let begun = Instant::now();
        let mut fastest = vec![Duration::MAX; texts.len().div_ceil(STRETCH)];
        let mut spans = 0;
        let mut rounds = 0;
        while rounds == 0 || begun.elapsed() < budget {
            spans = 0;
            for (stretch, best) in texts.chunks(STRETCH).zip(&mut fastest) {
                let started = Instant::now();
                spans += stretch
                    .iter()
                    .map(|text| detector.scan_text(text).len())
                    .sum::<usize>();
                *best = (*best).min(started.elapsed());
            }
            rounds += 1;
        }
        let best = fastest.iter().sum();
        Self {
            texts: texts.len(),
            bytes: texts.iter().map(String::len).sum(),
            spans,
            best,
        }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.1} MB/s per core ({} texts, {} bytes, {} spans, {:.1} ms)",
            self.megabytes_per_second(),
            self.texts,
            self.bytes,
            self.spans,
            self.best.as_secs_f64() * 1e3
        )
    }
}

/// Measures a file: a `text` field a line where lines are JSON objects, else the plain lines.
pub fn bench(
    detector: &Detector,
    reader: impl BufRead,
    budget: Duration,
) -> std::io::Result<Figures> {
    let mut texts = Vec::new();
    for line in reader.lines() {
        let line = line?;
        let field = serde_json::from_str::<Value>(&line)
            .ok()
            .and_then(|value| match value {
                Value::Object(mut fields) => match fields.remove("text") {
                    Some(Value::String(text)) => Some(text),
                    _ => None,
                },
                _ => None,
            });
        texts.push(field.unwrap_or(line));
    }
    Ok(Figures::measure(detector, &texts, budget))
}

/// Texts of about `size` bytes that have made detectors quadratic, by name.
pub fn degenerate_texts(size: usize) -> Vec<(&'static str, String)> {
    let key_block = ["-----BEGIN PRIVATE", " KEY-----!"].concat();
    let token = ["/fm", "2_"].concat();
    let units: Vec<(&'static str, &str)> = vec![
        ("dots", "."),
        ("letters and dots", "a.a."),
        ("digits and dashes", "12-12-"),
        ("digits", "1"),
        ("digits and dots", "1.1."),
        ("short urls", "http://a.b/"),
        ("open urls", "http://"),
        ("at signs", "@"),
        ("letters and at signs", "a@"),
        ("addresses without space", "a@b.co"),
        ("cards", "4111 1111 1111 1111 "),
        ("cards without space", "4111111111111111"),
        ("phones", "+1 201 555 0123 "),
        ("phones without space", "+12015550123"),
        ("zero width", "\u{200b}"),
        ("digits and zero width", "1\u{200b}"),
        ("colons", ":"),
        ("hex and colons", "a:"),
        ("double colons", "1::"),
        ("letters", "a"),
        ("mixed words", "a1"),
        ("brackets", "(("),
        ("bracketed digits", "(1)"),
        ("quotes", "\""),
        ("passwords", "password="),
        ("passwords in words", "password is "),
        ("bearers", "bearer "),
        ("token heads", "eyJ"),
        ("dotted token heads", "eyJa."),
        ("open key blocks", &key_block),
        ("long tokens", &token),
        ("base58 words", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3 "),
        ("account numbers", "DE89370400440532013001 "),
        ("escaped at signs", "%40"),
        ("open objects", "{\"a\":"),
        ("escapes", "\\u0041"),
        ("words for numbers", "phone card ssn "),
        ("wide letters", "電話0"),
    ];
    units
        .into_iter()
        .map(|(name, unit)| (name, unit.repeat(size.div_ceil(unit.len()))))
        .chain([(
            "one json string",
            format!("{{\"a\":\"{}\"}}", "\\u0041".repeat(size / 6)),
        )])
        .collect()
}
