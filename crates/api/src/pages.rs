//! Answers that are remembered as the bytes that were sent, and served again while the store says that
//! nothing they show has changed (docs/adr/0042).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use moka::future::Cache;
use prometheus::{IntCounterVec, Registry};
use throughline_conversation_memory::{Freshness, ReadVersion};
use throughline_domain::{TenantId, Timestamp, UserId};

use crate::counters::family;

/// A page that nobody asks for leaves after this time; so does one that shows what another process has
/// erased since, which is never served again.
const KEPT_FOR: Duration = Duration::from_mins(5);
/// A longer question is not remembered: it is the caller's, and may be anything.
const LONGEST_QUESTION: usize = 512;
/// What an entry takes beside its bytes.
const BESIDES: usize = 256;

type Key = (TenantId, UserId, Box<str>);

/// Pages of people's recent turns, bounded in bytes.
#[derive(Clone)]
pub(crate) struct Pages {
    known: Cache<Key, Arc<Page>>,
    most: usize,
    reads: IntCounterVec,
}

/// How a question was answered.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    /// With the page that was remembered.
    Remembered,
    /// There was one, and it no longer held.
    Changed,
    /// There was none.
    Read,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Remembered, Self::Changed, Self::Read];

    fn label(self) -> &'static str {
        match self {
            Self::Remembered => "remembered",
            Self::Changed => "changed",
            Self::Read => "read",
        }
    }
}

/// What was answered, and what has to be true for it to be answered again.
pub(crate) struct Page {
    fresh: Freshness,
    epoch: Option<u64>,
    body: Bytes,
}

impl Pages {
    /// `bytes` is the most they take; zero remembers nothing.
    pub(crate) fn new(bytes: usize, registry: &Registry) -> Result<Self, prometheus::Error> {
        let reads = family(
            registry,
            "ccm_recent_pages_total",
            "Reads of recent turns, by whether a remembered page was served.",
            "outcome",
            &Outcome::ALL.map(Outcome::label),
        )?;
        let known = Cache::builder()
            .max_capacity(bytes as u64)
            .weigher(|(_, _, question): &Key, page: &Arc<Page>| {
                u32::try_from(weight(question, page)).unwrap_or(u32::MAX)
            })
            .time_to_live(KEPT_FOR)
            .support_invalidation_closures()
            .build();
        Ok(Self {
            known,
            most: bytes,
            reads,
        })
    }

    /// The page that this question was answered with, if it is remembered.
    pub(crate) async fn get(
        &self,
        tenant: &TenantId,
        user: UserId,
        question: &str,
    ) -> Option<Arc<Page>> {
        let key = (tenant.clone(), user, question.into());
        self.known.get(&key).await
    }

    pub(crate) async fn put(&self, tenant: &TenantId, user: UserId, question: &str, page: Page) {
        // The cache would take a page that has no room in it, and let it go at its next tidying only.
        if question.len() <= LONGEST_QUESTION && weight(question, &page) <= self.most {
            let key = (tenant.clone(), user, question.into());
            self.known.insert(key, Arc::new(page)).await;
        }
    }

    /// Lets go of the tenant's pages: some show what was just erased.
    pub(crate) fn forget(&self, tenant: &TenantId) {
        let tenant = tenant.clone();
        self.known
            .invalidate_entries_if(move |(of, _, _), _| *of == tenant)
            .expect("the cache was built to be invalidated so");
    }

    pub(crate) fn count(&self, outcome: Outcome) {
        self.reads.with_label_values(&[outcome.label()]).inc();
    }
}

fn weight(question: &str, page: &Page) -> usize {
    BESIDES + question.len() + page.body.len()
}

impl Page {
    pub(crate) fn new(fresh: Freshness, epoch: Option<u64>, body: Bytes) -> Self {
        Self { fresh, epoch, body }
    }

    /// The bytes, if a read would give them now. `version` was asked after the question came.
    pub(crate) fn still(
        &self,
        version: Option<ReadVersion>,
        epoch: Option<u64>,
        now: Timestamp,
    ) -> Option<Bytes> {
        let same = version == Some(self.fresh.version) && epoch == self.epoch;
        (same && now < self.fresh.until).then(|| self.body.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(bytes: usize, until: i64) -> Page {
        let version = ReadVersion {
            user: UserId::from_u128(7),
            changes: 3,
            rules: 1,
        };
        let fresh = Freshness {
            version,
            until: Timestamp::from_millis(until),
        };
        Page::new(fresh, Some(5), Bytes::from(vec![b' '; bytes]))
    }

    #[test]
    fn a_page_is_served_while_nothing_has_changed_and_nothing_of_it_ended() {
        let page = page(10, 1_000);
        let version = page.fresh.version;
        let at = Timestamp::from_millis;
        assert!(page.still(Some(version), Some(5), at(999)).is_some());
        assert!(page.still(Some(version), Some(5), at(1_000)).is_none());
        assert!(page.still(Some(version), Some(6), at(999)).is_none());
        assert!(page.still(None, Some(5), at(999)).is_none());
        let others = [
            ReadVersion {
                changes: 4,
                ..version
            },
            ReadVersion {
                rules: 2,
                ..version
            },
            ReadVersion {
                user: UserId::from_u128(8),
                ..version
            },
        ];
        for other in others {
            assert!(page.still(Some(other), Some(5), at(999)).is_none());
        }
    }

    #[tokio::test]
    async fn pages_are_bounded_in_bytes_and_a_tenants_are_let_go_together() {
        let pages = Pages::new(10_000, &Registry::new()).unwrap();
        let tenants = ["acme", "other"].map(|name| TenantId::parse(name).unwrap());
        for number in 0..200 {
            let user = UserId::from_u128(number);
            let tenant = &tenants[usize::from(number % 2 == 0)];
            pages.put(tenant, user, "limit=20", page(1_000, 9)).await;
        }
        let known = &pages.known;
        known.run_pending_tasks().await;
        assert!(known.entry_count() > 0 && known.weighted_size() <= 10_000);
        for tenant in &tenants {
            pages.forget(tenant);
        }
        known.run_pending_tasks().await;
        assert_eq!((known.entry_count(), known.weighted_size()), (0, 0));
    }

    #[tokio::test]
    async fn another_tenant_person_or_question_has_another_page() {
        let pages = Pages::new(100_000, &Registry::new()).unwrap();
        let [acme, other] = ["acme", "other"].map(|name| TenantId::parse(name).unwrap());
        let [mina, noor] = [1, 2].map(UserId::from_u128);
        pages.put(&acme, mina, "limit=5", page(1, 9)).await;
        let long = "x".repeat(LONGEST_QUESTION + 1);
        pages.put(&acme, mina, &long, page(1, 9)).await;
        assert!(pages.get(&acme, mina, "limit=5").await.is_some());
        assert!(pages.get(&other, mina, "limit=5").await.is_none());
        assert!(pages.get(&acme, noor, "limit=5").await.is_none());
        assert!(pages.get(&acme, mina, "limit=6").await.is_none());
        assert!(pages.get(&acme, mina, &long).await.is_none());
        pages.put(&acme, noor, "limit=5", page(100_000, 9)).await;
        assert!(pages.get(&acme, noor, "limit=5").await.is_none());
        let off = Pages::new(0, &Registry::new()).unwrap();
        off.put(&acme, mina, "limit=5", page(1, 9)).await;
        assert!(off.get(&acme, mina, "limit=5").await.is_none());
    }
}
