//! `fuzz`: feeds the targets for as long as one likes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use throughline_fuzz::{TARGETS, feed};

/// Feeds every parser with mutations of what it takes. Ends with status 1 at the first that breaks.
#[derive(Parser)]
struct Arguments {
    /// Seconds for each target
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Where the mutations begin
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    for target in TARGETS {
        let (began, mut seed, mut fed) = (Instant::now(), arguments.seed, 0_usize);
        while began.elapsed() < Duration::from_secs(arguments.seconds) {
            let mut last = Vec::new();
            if catch_unwind(AssertUnwindSafe(|| feed(target, seed, 200, &mut last))).is_err() {
                eprintln!(
                    "{}: broken by {:?}",
                    target.name,
                    String::from_utf8_lossy(&last)
                );
                return ExitCode::FAILURE;
            }
            seed = seed.wrapping_add(1);
            fed += 200;
        }
        eprintln!("{}: {fed} inputs", target.name);
    }
    ExitCode::SUCCESS
}
