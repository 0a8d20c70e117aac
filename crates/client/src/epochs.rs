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
pub struct Epochs(Arc<Mutex<HashMap<TenantId, Heard>>>);

#[derive(Debug)]
struct Heard {
    latest: watch::Sender<Option<u64>>,
    newest: Option<u64>,
}

impl Heard {
    fn nothing() -> Self {
        Self {
            latest: watch::Sender::new(None),
            newest: None,
        }
    }
}

impl Epochs {
    /// The latest; `None` before the first answer about the tenant.
    pub fn of(&self, tenant: &TenantId) -> Option<u64> {
        let tenants = self.0.lock();
        tenants.get(tenant).and_then(|heard| *heard.latest.borrow())
    }

    /// The largest that any answer carried: it does not go back when answers overtake each other.
    pub fn newest(&self, tenant: &TenantId) -> Option<u64> {
        self.0.lock().get(tenant).and_then(|heard| heard.newest)
    }

    /// The latest, and a notice whenever it becomes another.
    pub fn watch(&self, tenant: &TenantId) -> watch::Receiver<Option<u64>> {
        let mut tenants = self.0.lock();
        let heard = tenants.entry(tenant.clone());
        heard.or_insert_with(Heard::nothing).latest.subscribe()
    }

    pub(crate) fn note(&self, tenant: &TenantId, epoch: u64) {
        let mut tenants = self.0.lock();
        if !tenants.contains_key(tenant) {
            tenants.insert(tenant.clone(), Heard::nothing());
        }
        if let Some(heard) = tenants.get_mut(tenant) {
            heard.newest = heard.newest.max(Some(epoch));
            let latest = &heard.latest;
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
        assert_eq!(epochs.newest(&acme), Some(1));
        epochs.note(&other, 7);
        assert!(!watched.has_changed().unwrap());
        assert_eq!((epochs.of(&acme), epochs.of(&other)), (Some(0), Some(7)));
    }
}
