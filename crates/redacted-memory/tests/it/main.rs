//! The memory with masks over the in-memory store: the contract suite through it, what readers see in
//! each mode, and the sweep over what is stored unscanned.

#![expect(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod contract;
mod modes;
mod reads;
mod remembered;
mod stand_in;
mod subject;
mod sweep;
