//! A scope's new beginning.

use throughline_conversation_memory::ChannelScope;

use crate::state::{Log, Ordered};

/// Forgets the way from the scope to its turns and leaves the turns. Turns are indexed in the order of
/// their `seq`, so an index that starts empty now holds exactly those past the present watermark, and
/// a scope cleared often costs no more than a new one. The old index is handed out, to be freed when
/// the lock is: it may be long.
pub(super) fn clear(log: &mut Log, scope: &ChannelScope) -> Option<Ordered> {
    log.by_scope.remove(scope)
}
