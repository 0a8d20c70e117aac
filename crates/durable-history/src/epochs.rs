//! What the adapter hears of erasures.

use std::collections::HashMap;

use parking_lot::RwLock;
use throughline_domain::TenantId;

/// The newest erasure epoch of each tenant that any answer of the memory service carried (D-09). A
/// larger number than before means that somebody was erased in between: what is hot of the tenant is
/// dropped before it is served.
pub trait ErasureEpochs: Send + Sync {
    /// `None` while nothing was heard of the tenant. Asked on every call of a plugin: must not wait.
    fn epoch(&self, tenant: &TenantId) -> Option<u64>;
}

/// A place to write epochs down as they come, for whoever reads the answers.
#[derive(Debug, Default)]
pub struct EpochBoard(RwLock<HashMap<TenantId, u64>>);

impl EpochBoard {
    /// An answer carried this epoch. An older one than before changes nothing: answers overtake each
    /// other.
    pub fn heard(&self, tenant: &TenantId, epoch: u64) {
        if self.epoch(tenant).is_some_and(|known| known >= epoch) {
            return;
        }
        let mut epochs = self.0.write();
        let known = epochs.entry(tenant.clone()).or_default();
        *known = epoch.max(*known);
    }
}

impl ErasureEpochs for EpochBoard {
    fn epoch(&self, tenant: &TenantId) -> Option<u64> {
        self.0.read().get(tenant).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_never_goes_back() {
        let board = EpochBoard::default();
        let [acme, other] = ["acme", "other"].map(|name| TenantId::parse(name).unwrap());
        assert_eq!(board.epoch(&acme), None);
        board.heard(&acme, 0);
        assert_eq!(board.epoch(&acme), Some(0));
        board.heard(&acme, 7);
        board.heard(&acme, 3);
        assert_eq!((board.epoch(&acme), board.epoch(&other)), (Some(7), None));
    }
}
