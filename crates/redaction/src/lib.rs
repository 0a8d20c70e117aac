//! Finds personal data and secrets in text and JSON: text → spans.
//!
//! What belongs here: rules that look at text, the walk over JSON, the stored form of what was found,
//! and the masks made from it. What does not: clocks, databases, tenants, modes, jobs; they are the
//! callers'. Nothing here does I/O except the two functions of `lines`, which read and write what they
//! are given.
//!
//! The way of a text: `fold` (look-alike characters) → `trigger` (one pass) → `rules` (candidates,
//! checked) with `context` (words beside them) → `resolve` (one deterministic list) → `mask`.

mod bench;
mod config;
mod context;
mod context_words;
mod covered;
mod detector;
mod entity;
mod fold;
mod json;
mod lines;
mod mask;
mod mask_json;
mod metadata;
mod nested;
mod resolve;
mod rule;
mod rules;
mod scan;
mod settle;
mod span;
mod text;
mod trigger;

#[cfg(test)]
mod testing;

pub use bench::{Figures, bench, degenerate_texts};
pub use config::{DetectorConfig, DetectorIdentity, VERSION};
pub use detector::Detector;
pub use entity::Entity;
pub use lines::{LineError, LineOptions, LineSummary, Offsets, redact_lines};
pub use mask::{InvalidSpans, MaskPolicy, MaskStyle, mask_text};
pub use mask_json::{MaskedTurn, mask_turn};
pub use metadata::{RedactionMetadata, StoredSpan};
pub use rule::{Rule, Strength};
pub use rules::RULES;
pub use scan::{Field, FieldSpan, Scan, TurnContent};
pub use span::Span;
