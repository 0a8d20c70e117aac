//! How often people were erased in each tenant, as the answers say.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use throughline_domain::TenantId;
use tokio::sync::watch;

/// The erasure epoch that came with the latest answer about each tenant (D-09).
///
/// It is noted before the answer is handed over, so that whoever caches looks here first. *Another* value
/// means: drop what is cached of the tenant. A lower one too: answers overtake each other, and an answer
/// with an older epoch may hold what is erased by now.
#[derive(Clone, Debug, Default)]
pub struct Epochs(Arc<Mutex<HashMap<TenantId, watch::Sender<Option<u64>>>>>);

impl Epochs {
    /// The latest; `None` before the first answer about the tenant.
    pub fn of(&self, tenant: &TenantId) -> Option<u64> {
        self.0
            .lock()
            .get(tenant)
            .and_then(|latest| *latest.borrow())
    }

    /// The latest, and a notice whenever it becomes another.
    pub fn watch(&self, tenant: &TenantId) -> watch::Receiver<Option<u64>> {
        let mut tenants = self.0.lock();
        let latest = tenants.entry(tenant.clone());
        latest
            .or_insert_with(|| watch::Sender::new(None))
            .subscribe()
    }

    pub(crate) fn note(&self, tenant: &TenantId, epoch: u64) {
        let mut tenants = self.0.lock();
        if !tenants.contains_key(tenant) {
            tenants.insert(tenant.clone(), watch::Sender::new(None));
        }
        if let Some(latest) = tenants.get(tenant) {
            latest.send_if_modified(|latest| latest.replace(epoch) != Some(epoch));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_value_is_noticed_whichever_way_it_goes_and_the_same_is_not() {
        let acme = TenantId::parse("acme").unwrap();
        let other = TenantId::parse("other").unwrap();
        let epochs = Epochs::default();
        let mut watched = epochs.watch(&acme);
        for (epoch, noticed) in [(0, true), (0, false), (1, true), (0, true)] {
            epochs.note(&acme, epoch);
            assert_eq!(watched.has_changed().unwrap(), noticed, "{epoch}");
            assert_eq!(*watched.borrow_and_update(), Some(epoch));
        }
        epochs.note(&other, 7);
        assert!(!watched.has_changed().unwrap());
        assert_eq!((epochs.of(&acme), epochs.of(&other)), (Some(0), Some(7)));
    }
}
