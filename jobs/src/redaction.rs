//! Scans turns that were stored unscanned, whose scan failed, or that an older detector looked at
//! . Removes nothing; a turn that no scan gets through is masked whole (T-45).

use async_trait::async_trait;
use throughline_conversation_memory::MemoryError;
use throughline_redacted_memory::{Counts, Sweep, Swept};

use crate::job::{Done, Job, JobContext, Outcome, Report};

/// The job.
pub struct Redaction {
    sweep: Sweep,
    changes: Changes,
}

enum Changes {
    Widening,
    Any,
}

impl Redaction {
    /// What runs by the clock. Masks only grow.
    pub fn widening(sweep: Sweep) -> Self {
        Self {
            sweep,
            changes: Changes::Widening,
        }
    }

    /// What an operator asks for, for one tenant: every redacted turn is scanned again and the result
    /// stands, also where it masks less than before.
    pub fn narrowing(sweep: Sweep) -> Self {
        Self {
            sweep,
            changes: Changes::Any,
        }
    }

    async fn swept(&self, context: &JobContext) -> Result<Swept, Refused> {
        let request = context.request.clone().unwrap_or_default();
        let stop = || context.should_stop();
        match (&self.changes, &request.tenant) {
            (_, only) if request.dry_run => self.looked_at(only.as_ref()).await,
            (Changes::Widening, only) => Ok(self.sweep.scan_pending(only.as_ref(), &stop).await?),
            (Changes::Any, Some(tenant)) => Ok(self.sweep.narrow(tenant, &stop).await?),
            (Changes::Any, None) => Err(Refused::NoTenant),
        }
    }

    /// A dry run: the tenants, without a number, for counting them is reading them.
    async fn looked_at(
        &self,
        only: Option<&throughline_domain::TenantId>,
    ) -> Result<Swept, Refused> {
        let due = self.sweep.tenants_due().await?;
        let due = due
            .into_iter()
            .filter(|tenant| only.is_none_or(|only| only == tenant));
        Ok(Swept {
            tenants: due.map(|tenant| (tenant, Counts::default())).collect(),
            finished: true,
        })
    }
}

#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("name the tenant whose masks may be narrowed")]
    NoTenant,
    // Not transparent: who asks for the cause finds the store's own error.
    #[error("the turns cannot be scanned")]
    Memory(#[from] MemoryError),
}

#[async_trait]
impl Job for Redaction {
    fn name(&self) -> &'static str {
        match self.changes {
            Changes::Widening => "redaction",
            Changes::Any => "redaction_narrowing",
        }
    }

    async fn run(&self, context: &JobContext) -> Report {
        match self.swept(context).await {
            Ok(swept) => report(&swept),
            Err(error) => Report::failed(error),
        }
    }
}

fn report(swept: &Swept) -> Report {
    let mut report = Report::empty();
    report.tenants = swept.tenants.len() as u64;
    if !swept.finished {
        report.outcome = Outcome::Partial;
    }
    for (tenant, counts) in &swept.tenants {
        let passes = [
            ("scanned", counts.scanned, counts.bytes),
            ("failed", counts.failed, 0),
            ("covered", counts.covered, 0),
            ("kept", counts.kept, 0),
        ];
        let done = passes.into_iter().filter(|(_, rows, _)| *rows > 0);
        report.done.extend(done.map(|(pass, rows, bytes)| Done {
            tenant: tenant.clone(),
            pass,
            rows,
            bytes,
        }));
    }
    report
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use prometheus::Registry;
    use throughline_conversation_memory::contract::turn;
    use throughline_conversation_memory::{
        Cause, ConversationMemory as _, RecentQuery, RedactionState, Turn,
    };
    use throughline_domain::{ManualClock, SystemIds, TenantId, Timestamp, UserId};
    use throughline_platform_identity::{ChannelUser, PlatformIdentity as _, PlatformKind};
    use throughline_provider_in_memory::InMemoryStore;
    use throughline_redacted_memory::Scanner;
    use throughline_tenancy::{Tenancy as _, TenantConfig};
    use tokio::time::Instant;

    use super::*;
    use crate::job::Request;

    const WORDS: &str = "write to mina@example.org";

    struct Waiting {
        store: Arc<InMemoryStore>,
        sweep: Sweep,
        people: Vec<(TenantId, UserId)>,
    }

    /// A turn of each of two tenants, `acme` and `other`, that nothing has scanned.
    async fn waiting() -> Waiting {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
        let store = InMemoryStore::new(clock.clone(), Arc::new(SystemIds));
        let mut people = Vec::new();
        for name in ["acme", "other"] {
            let tenant = TenantId::parse(name).unwrap();
            let config = TenantConfig::default();
            store.create_tenant(&tenant, config).await.unwrap();
            let who = ChannelUser::new(PlatformKind::Custom, "mina").unwrap();
            let mina = store.resolve(&tenant, &who).await.unwrap().user_id;
            let said = turn(mina, "k").saying(WORDS).pending();
            store.append(&tenant, said).await.unwrap();
            people.push((tenant, mina));
        }
        let scanner = Scanner::built_in(clock.clone(), &Registry::new()).unwrap();
        let sweep = Sweep::new(store.clone(), scanner, clock);
        Waiting {
            store,
            sweep,
            people,
        }
    }

    impl Waiting {
        /// What a reader gets of the tenant of that number.
        async fn read(&self, number: usize) -> Vec<Turn> {
            let (tenant, user) = &self.people[number];
            let query = RecentQuery::default();
            self.store
                .recent(tenant, *user, &query)
                .await
                .unwrap()
                .turns
        }
    }

    fn by_the_clock() -> JobContext {
        JobContext::until(Instant::now() + Duration::from_mins(1))
    }

    fn asked(dry_run: bool, tenant: Option<&TenantId>) -> JobContext {
        by_the_clock().asked(Request {
            dry_run,
            tenant: tenant.cloned(),
        })
    }

    /// Found by ending the database's connections under a run: it was told as a mistake of ours.
    #[test]
    fn a_store_that_is_away_stands_behind_the_failure() {
        let away = MemoryError::Unavailable(Cause::new("gone"));
        let refused = Refused::from(away);
        let cause = std::error::Error::source(&refused).and_then(|cause| cause.downcast_ref());
        assert!(matches!(cause, Some(MemoryError::Unavailable(_))));
    }

    #[tokio::test]
    async fn a_run_scans_what_waits_in_every_tenant_and_says_so() {
        let waiting = waiting().await;
        let report = Redaction::widening(waiting.sweep.clone())
            .run(&by_the_clock())
            .await;
        assert!(matches!(report.outcome, Outcome::Done));
        assert_eq!((report.tenants, report.rows("scanned")), (2, 2));
        let bytes: u64 = report.done.iter().map(|done| done.bytes).sum();
        // What is said, and empty metadata.
        assert_eq!(bytes, 2 * (WORDS.len() + "{}".len()) as u64);
        for number in [0, 1] {
            let read = waiting.read(number).await;
            assert_eq!(read[0].redaction.state(), RedactionState::Redacted);
        }
        let again = Redaction::widening(waiting.sweep)
            .run(&by_the_clock())
            .await;
        assert!(again.is_empty());
    }

    #[tokio::test]
    async fn a_run_for_one_tenant_leaves_the_others() {
        let waiting = waiting().await;
        let acme = waiting.people[0].0.clone();
        let job = Redaction::widening(waiting.sweep.clone());
        let report = job.run(&asked(false, Some(&acme))).await;
        let tenants: Vec<_> = report.done.iter().map(|done| done.tenant.clone()).collect();
        assert_eq!(tenants, [acme]);
        assert_eq!(waiting.read(0).await.len(), 1);
        assert_eq!(waiting.read(1).await, []);
    }

    #[tokio::test]
    async fn a_dry_run_names_the_tenants_and_scans_nothing() {
        let waiting = waiting().await;
        let acme = waiting.people[0].0.clone();
        let job = Redaction::widening(waiting.sweep.clone());
        for (only, tenants) in [(None, 2), (Some(&acme), 1)] {
            let report = job.run(&asked(true, only)).await;
            assert!(matches!(report.outcome, Outcome::Done));
            assert_eq!((report.tenants, report.done.len()), (tenants, 0));
        }
        assert_eq!(waiting.read(0).await, []);
    }

    #[tokio::test]
    async fn masks_are_narrowed_for_a_named_tenant_only() {
        let waiting = waiting().await;
        let job = Redaction::narrowing(waiting.sweep.clone());
        for context in [by_the_clock(), asked(false, None)] {
            let report = job.run(&context).await;
            let Outcome::Failed(error) = report.outcome else {
                panic!("{report:?}");
            };
            assert_eq!(
                error.to_string(),
                "name the tenant whose masks may be narrowed"
            );
        }
        let acme = waiting.people[0].0.clone();
        Redaction::widening(waiting.sweep.clone())
            .run(&by_the_clock())
            .await;
        let report = job.run(&asked(false, Some(&acme))).await;
        assert!(matches!(report.outcome, Outcome::Done));
        assert_eq!((report.tenants, report.rows("scanned")), (1, 1));
    }

    #[tokio::test]
    async fn a_run_that_is_told_to_stop_is_partial() {
        let waiting = waiting().await;
        let context = by_the_clock();
        context.stop();
        let report = Redaction::widening(waiting.sweep.clone())
            .run(&context)
            .await;
        assert!(matches!(report.outcome, Outcome::Partial));
        assert_eq!(waiting.read(0).await, []);
    }

    #[test]
    fn each_count_is_a_pass_and_zeroes_are_left_out() {
        let tenant = TenantId::parse("acme").unwrap();
        let counts = Counts {
            scanned: 3,
            bytes: 30,
            covered: 1,
            ..Counts::default()
        };
        let swept = Swept {
            tenants: [(tenant, counts)].into(),
            finished: true,
        };
        let report = report(&swept);
        let passes: Vec<_> = report
            .done
            .iter()
            .map(|done| (done.pass, done.rows, done.bytes))
            .collect();
        assert_eq!(passes, [("scanned", 3, 30), ("covered", 1, 0)]);
    }
}
