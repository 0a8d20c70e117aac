//! Signals to a process and to its children, in safe code.

use std::fs;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

/// Sends a signal; a process that is already gone is no error.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // The only other error is a process of somebody else, which a started child is not.
        let _ = kill_process(pid, signal);
    }
}

/// Stops the process first, so that it cannot start a child between the look and the signal.
pub(crate) fn signal_family(parent: u32, how: Signal) {
    signal(parent, Signal::STOP);
    let children = children(parent);
    signal(parent, how);
    for child in children {
        signal(child, how);
    }
}

/// Linux lists them in a file; elsewhere `ps` knows.
fn children(parent: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    if let Ok(list) = listed {
        return list
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .collect();
    }
    let Ok(output) = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output() else {
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| {
            let (pid, of) = line.trim().split_once(char::is_whitespace)?;
            (of.trim().parse() == Ok(parent)).then(|| pid.parse().ok())?
        })
        .collect()
}
