//! Conversation memory that scans what goes in and masks what comes out, over any provider.
//!
//! [`RedactedMemory`] stands between the callers and a store: an append is scanned before it is stored,
//! in the tenant's mode, and a read gets masks in the place of what was found. Whoever holds it as
//! `dyn ConversationMemory` cannot read unscanned or unmasked text by mistake.
//!
//! [`Sweep`] looks through what the store holds unscanned or scanned by an older detector.
//!
//! Belongs here: modes, the limits of a scan on the way in, masks on the way out, what a scan of a
//! stored turn writes, their metrics. Does not belong here: rules that look at text (`redaction`), a
//! store, when the sweep runs (`jobs`).

#[cfg(feature = "cost")]
pub mod cost;
mod detect;
mod mask;
mod memory;
mod metrics;
mod rules;
mod scan;
mod sweep;

pub use detect::Detect;
pub use memory::RedactedMemory;
pub use metrics::RedactionMetrics;
pub use rules::{Rules, TenantRules};
pub use scan::{Scanned, Scanner};
pub use sweep::{Counts, FAILURES, Sweep, Swept};
