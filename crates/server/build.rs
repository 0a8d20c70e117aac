//! Hands `version` what cargo knows about the build; nothing is asked of git, so a source archive
//! builds the same.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["TARGET", "PROFILE"] {
        let value = env::var(name).unwrap_or_else(|_| "unknown".to_owned());
        println!("cargo:rustc-env=THROUGHLINE_{name}={value}");
    }
    println!("cargo:rustc-env=THROUGHLINE_RUSTC={}", compiler());
}

fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let text = output
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok());
    text.map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}
