//! A target for every parser of foreign bytes: what it must hold whatever it is fed. It is fed what it
//! takes, mutated.
//!
//! It runs on the stable toolchain as a part of the tests, briefly and always alike, and for as long as one
//! likes by the binary `fuzz`. Belongs here: targets, their seeds, the mutations. Does not belong here: cases
//! with a name, which stand beside the parser.

mod mutate;
mod target;

pub use mutate::Mutator;
pub use target::{TARGETS, Target};

/// Feeds a target that many mutations. A promise that breaks is a panic, with the input in `last`.
pub fn feed(target: &Target, seed: u64, count: usize, last: &mut Vec<u8>) {
    let mut mutator = Mutator::new(target.seeds, seed);
    for _ in 0..count {
        *last = mutator.input();
        (target.holds)(last);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Brief: each target alike, a thousand mutations that are the same each time.
    #[test]
    fn every_parser_keeps_its_promises_on_mutated_input() {
        for target in TARGETS {
            let mut last = Vec::new();
            let fed = catch_unwind(AssertUnwindSafe(|| feed(target, 1, 1_000, &mut last)));
            assert!(
                fed.is_ok(),
                "{}: {:?}",
                target.name,
                String::from_utf8_lossy(&last)
            );
        }
    }

    #[test]
    fn every_seed_is_taken_as_it_is() {
        for target in TARGETS {
            for seed in target.seeds {
                assert!((target.holds)(seed.as_bytes()), "{}: {seed}", target.name);
            }
        }
    }
}
