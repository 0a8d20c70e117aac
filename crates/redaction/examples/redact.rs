//! `redact [--mask] [--bytes]` over standard input, `redact bench FILE…`, `redact degenerate`.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, stdin, stdout};
use std::time::Duration;

use throughline_redaction::{
    Detector, Figures, LineOptions, MaskPolicy, Offsets, bench, degenerate_texts, redact_lines,
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
                let figures = Figures::measure(&detector, &[text], Duration::from_millis(300));
                println!("{name:28} {figures}");
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
