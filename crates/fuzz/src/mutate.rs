//! What a parser takes, changed in a few places.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// Pieces that parsers trip over.
const PIECES: &[&str] = &[
    "\0",
    "\\u0000",
    "\\ud800",
    "\u{feff}",
    "\u{202e}",
    "\u{130}",
    "é",
    "e\u{301}",
    "👨‍👩‍👧",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "@",
    "@@",
    ".",
    "+",
    "*",
    "*/0",
    "-",
    "/",
    "#",
    "L",
    "W",
    "0",
    "-1",
    "1e999",
    "18446744073709551616",
    "null",
    "true",
    " ",
    "\t",
    "\r\n",
    "%00",
    "AQ",
    "==",
];
/// No input grows beyond this.
const MOST: usize = 4_096;

/// An endless line of inputs, the same for the same seed.
pub struct Mutator {
    seeds: &'static [&'static str],
    rng: StdRng,
}

impl Mutator {
    /// From those seeds.
    pub fn new(seeds: &'static [&'static str], seed: u64) -> Self {
        Self {
            seeds,
            rng: StdRng::seed_from_u64(seed),
        }
    }

    /// The next input: a seed with one to eight changes.
    pub fn input(&mut self) -> Vec<u8> {
        let mut bytes = self.pick(self.seeds).as_bytes().to_vec();
        for _ in 0..self.rng.random_range(1..=8) {
            self.change(&mut bytes);
        }
        bytes.truncate(MOST);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let place = self.rng.random_range(0..=bytes.len());
        match self.rng.random_range(0..7) {
            0 if place < bytes.len() => bytes[place] = self.rng.random(),
            1 if place < bytes.len() => bytes[place] ^= 1 << self.rng.random_range(0..8),
            2 => {
                let end = self.rng.random_range(place..=bytes.len().min(place + 16));
                bytes.drain(place..end);
            }
            3 => {
                let end = self.rng.random_range(place..=bytes.len());
                let again = bytes[place..end].to_vec();
                bytes.splice(place..place, again);
            }
            4 => {
                let other = self.pick(self.seeds).as_bytes();
                let from = self.rng.random_range(0..=other.len());
                bytes.truncate(place);
                bytes.extend_from_slice(&other[from..]);
            }
            5 => {
                let depth = self.rng.random_range(1..200);
                let open = if self.rng.random() { "[" } else { "{\"a\":" };
                bytes.splice(place..place, open.repeat(depth).into_bytes());
            }
            _ => {
                let piece = self.pick(PIECES);
                bytes.splice(place..place, piece.bytes());
            }
        }
    }

    fn pick(&mut self, from: &'static [&'static str]) -> &'static str {
        from[self.rng.random_range(0..from.len())]
    }
}
