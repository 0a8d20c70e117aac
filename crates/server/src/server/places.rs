//! Who gives way when every place for a connection is taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Connections without a request, by how long they have been so. Those who only hold a connection, or drip a
/// request into it, would otherwise keep everybody out who has none until their time is up.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<Inner>);

#[derive(Default)]
struct Inner {
    idle: Mutex<Idle>,
    /// Somebody became idle.
    came: Notify,
}

#[derive(Default)]
struct Idle {
    next: u64,
    /// The lowest number is idle for the longest time.
    waiting: BTreeMap<u64, CancellationToken>,
}

/// One connection's place. Idle until told otherwise, and again from the end of each request.
pub(super) struct Place {
    places: Places,
    number: Mutex<Option<u64>>,
    give_way: CancellationToken,
}

impl Places {
    /// A place for a connection that has just come.
    pub(super) fn take(&self) -> Place {
        let place = Place {
            places: self.clone(),
            number: Mutex::new(None),
            give_way: CancellationToken::new(),
        };
        place.idle();
        place
    }

    /// Asks the connection that has been idle for the longest time to close; whether there was one.
    pub(super) fn free_one(&self) -> bool {
        let first = self.0.idle.lock().waiting.pop_first();
        if let Some((_, connection)) = &first {
            connection.cancel();
        }
        first.is_some()
    }

    /// Waits until a connection becomes idle.
    pub(super) async fn came(&self) {
        self.0.came.notified().await;
    }
}

impl Place {
    /// A request is worked on: nobody may ask it to give way.
    pub(super) fn busy(&self) {
        if let Some(number) = self.number.lock().take() {
            self.places.0.idle.lock().waiting.remove(&number);
        }
    }

    /// The request is answered.
    pub(super) fn idle(&self) {
        let mut idle = self.places.0.idle.lock();
        let number = idle.next;
        idle.next += 1;
        idle.waiting.insert(number, self.give_way.clone());
        drop(idle);
        let before = self.number.lock().replace(number);
        if let Some(before) = before {
            self.places.0.idle.lock().waiting.remove(&before);
        }
        self.places.0.came.notify_one();
    }

    /// Waits until it is asked to.
    pub(super) async fn asked_to_give_way(&self) {
        self.give_way.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.busy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_idle_for_longest_gives_way_and_a_busy_one_never_does() {
        let places = Places::default();
        let [first, second, third] = [places.take(), places.take(), places.take()];
        let asked = || [&first, &second, &third].map(|place| place.give_way.is_cancelled());
        first.busy();
        second.busy();
        second.idle();
        assert!(places.free_one());
        assert_eq!(asked(), [false, false, true]);
        assert!(places.free_one());
        assert_eq!(asked(), [false, true, true]);
        assert!(!places.free_one());
        first.idle();
        drop(first);
        assert!(!places.free_one());
    }
}
