//! LangGraph's store as the other side: what a Python programmer would use in our place.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::fault::BenchError;
use crate::pgbench::{Programs, said};
use crate::samples::Samples;
use crate::words;

const PUTS: &str = include_str!("langgraph/puts.py");

/// Lets that many callers put turns for that long, and checks that each is in the store. The tables are
/// made in the schema of the other side; `label` tells the keys of one run from those of the others.
pub(crate) async fn puts(
    programs: &Programs,
    python: &Path,
    callers: usize,
    time: Duration,
    label: &str,
) -> Result<Samples, BenchError> {
    let plan = json!({
        "callers": callers,
        "seconds": time.as_secs_f64(),
        "label": label,
        "value": {"user_message": words::said(), "assistant_answer": words::answered()},
    });
    let mut child = Command::new(python)
        .args(["-c", PUTS])
        .envs(programs.environment())
        .env("PGOPTIONS", "-c search_path=throughline_bench")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A Python that ended at once says why in what it wrote, not in this pipe.
        let _ = input.write_all(plan.to_string().as_bytes()).await;
    }
    let output = child.wait_with_output().await?;
    said("python", output.status.success(), &output.stderr)?;
    samples(&output.stdout)
}

/// What the script wrote, if everything that was put is stored.
fn samples(stdout: &[u8]) -> Result<Samples, BenchError> {
    let unreadable = || BenchError::Program {
        program: "python",
        said: "the puts were not reported as expected".to_owned(),
    };
    let report: Value = serde_json::from_slice(stdout).map_err(|_| unreadable())?;
    let micros = report["micros"].as_array().ok_or_else(unreadable)?;
    let micros: Vec<u32> = micros
        .iter()
        .map(|put| put.as_u64().and_then(|put| u32::try_from(put).ok()))
        .collect::<Option<_>>()
        .ok_or_else(unreadable)?;
    let seconds = report["seconds"].as_f64().ok_or_else(unreadable)?;
    let stored = report["stored"].as_u64().ok_or_else(unreadable)?;
    if u64::try_from(micros.len()) != Ok(stored) {
        let text = format!("{} puts were answered, {stored} are stored", micros.len());
        return Err(BenchError::Wrong(text));
    }
    Ok(Samples::new(micros, Duration::from_secs_f64(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_that_are_not_all_stored_are_no_measurement() {
        let report = |stored: u32| json!({"seconds": 0.5, "micros": [900, 1100], "stored": stored});
        let measured = samples(report(2).to_string().as_bytes()).unwrap();
        assert!((measured.rate() - 4.0).abs() < 1e-9);
        let lost = samples(report(1).to_string().as_bytes());
        assert!(matches!(lost, Err(BenchError::Wrong(_))), "{lost:?}");
        let silent = samples(b"");
        assert!(
            matches!(silent, Err(BenchError::Program { .. })),
            "{silent:?}"
        );
    }
}
