//! `redact [--mask] [--bytes]` over standard input, `redact bench FILE…`, `redact degenerate`.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, stdin, stdout};
use std::time::{Duration, Instant};

use throughline_redaction::{
    Detector, LineOptions, MaskPolicy, Offsets, bench, degenerate_texts, redact_lines,
};

fn main() -> Result<(), Box<dyn Error>> {
    let detector = Detector::default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("bench") => {
            for path in &arguments[1..] {
                let reader = BufReader::new(File::open(path)?);
                println!(
                    "{path}: {}",
                    bench(&detector, reader, Duration::from_secs(2))?
                );
            }
        }
        Some("degenerate") => {
            for (name, text) in degenerate_texts(1 << 20) {
                let begun = Instant::now();
                let spans = detector.scan_text(&text).len();
                println!(
                    "{name:28} {:7.1} ms {spans:8} spans",
                    begun.elapsed().as_secs_f64() * 1e3
                );
            }
        }
        _ => {
            let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
            let options = LineOptions {
                offsets: if has("--bytes") {
                    Offsets::Bytes
                } else {
                    Offsets::CodePoints
                },
                mask: has("--mask").then(MaskPolicy::default),
            };
            let writer = BufWriter::new(stdout().lock());
            redact_lines(&detector, stdin().lock(), writer, &options)?;
        }
    }
    Ok(())
}
