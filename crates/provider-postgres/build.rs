//! A new migration must reach the binary even when no Rust file changed.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
