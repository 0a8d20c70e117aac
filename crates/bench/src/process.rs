//! What a process and its children have used, from /proc; zero where there is no /proc.

use std::fs;

/// Ticks of the kernel's accounting a second, on every Linux there is.
const TICKS: f64 = 100.0;

/// Seconds of processor time of a process and of its living and ended children.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    own(pid) + children(pid).into_iter().map(own).sum::<f64>()
}

/// Resident memory in bytes.
pub(crate) fn memory(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) * 1_024.0
}

/// The load of the whole machine over the last minute.
pub(crate) fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(0.0)
}

/// User and system time; with it that of children that ended and were waited for.
fn own(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in brackets, may hold anything.
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return 0.0;
    };
    let ticks = rest.split_whitespace().skip(11).take(4);
    ticks
        .filter_map(|word| word.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS
}

fn children(pid: u32) -> Vec<u32> {
    let file = format!("/proc/{pid}/task/{pid}/children");
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}
