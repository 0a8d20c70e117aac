//! `faults`: plays rounds of every fault and prints the table.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use throughline_faults::{Fault, Pace, Table, rounds};

/// Breaks two real servers and a real Postgres under load and looks for a promise that was not kept.
/// Needs the built `throughline` beside this program and PostgreSQL's server programs. Ends with
/// status 1 when a promise was broken.
#[derive(Parser)]
struct Arguments {
    /// Rounds of each fault
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// Decides what is sent, when the fault comes and for how long
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// These faults only, in place of all
    #[arg(long, value_delimiter = ',')]
    only: Vec<Fault>,
    /// Milliseconds of load before the fault, at most
    #[arg(long, default_value_t = 1_000)]
    load_ms: u64,
    /// Seconds for which Postgres is paused
    #[arg(long, default_value_t = 30)]
    pause: u64,
    /// Tell what is done to the system, and end
    #[arg(long)]
    list: bool,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        for fault in Fault::ALL {
            say(&format!("{:<20} {}", fault.word(), fault.what()));
        }
        return ExitCode::SUCCESS;
    }
    let pace = Pace {
        load: Duration::from_millis(arguments.load_ms),
        pause: Duration::from_secs(arguments.pause),
    };
    let faults = match arguments.only.as_slice() {
        [] => Fault::ALL,
        only => only,
    };
    let (mut table, mut failed) = (Table::default(), false);
    for fault in faults {
        let mut number = 0;
        let tried = rounds(*fault, arguments.rounds, arguments.seed, pace, |round| {
            number += 1;
            note(&format!(
                "{fault} {number}/{}: {} calls, {} acknowledged, {} open, {} refused, recovered in {:.2} s",
                arguments.rounds,
                round.calls,
                round.acknowledged,
                round.unknown,
                round.refused,
                round.recovery.as_secs_f64()
            ));
            for broken in round.broken.iter().take(10) {
                note(&format!("  BROKEN {broken}"));
            }
        });
        match tried.await {
            Ok(tried) => {
                failed |= !tried.broken.is_empty();
                table.0.push(tried);
            }
            Err(why) => note(&format!("{fault} was not played: {why}")),
        }
    }
    say(&table.to_string());
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// To standard output; who closed it does not want to know.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
