//! `/admin/tenants/{tenant}/outbox`

mod discard;
mod list;
mod requeue;

pub(crate) use discard::discard;
pub(crate) use list::list;
pub(crate) use requeue::requeue;

use throughline_conversation_memory::OutboxEntry;
use throughline_wire::{Code, OutboxEntryAnswer};

use crate::failure::Failure;

fn known(entry: Option<OutboxEntry>) -> Result<OutboxEntryAnswer, Failure> {
    entry.map(Into::into).ok_or_else(|| {
        let detail = "the tenant has no dead letter of this id";
        Failure::new(Code::UnknownEntry, detail)
    })
}
