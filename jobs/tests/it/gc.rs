//! What a sweep promises: all tenants, the passes in their order, claims, slices, stopping.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{Registry, TextEncoder};
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    Chunk, ConversationMemory, Lease, LeaseOwner, Leases, Retention,
};
use throughline_domain::{Clock, ManualClock, SystemIds, TenantId, Timestamp, UserId};
use throughline_jobs::{
    Done, Gc, GcLag, GcMetrics, GcParts, GcSettings, Job, JobContext, Outcome, Report, Request,
    Visiting,
};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{Tenancy, TenantConfig};
use tokio::time::Instant;

const DAY: Duration = Duration::from_hours(24);

struct Swept {
    store: Arc<InMemoryStore>,
    clock: Arc<ManualClock>,
    parts: GcParts,
    registry: Registry,
}

fn swept(settings: GcSettings) -> Swept {
    // 2023-11-14T22:13:20Z
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let store = InMemoryStore::new(clock.clone(), Arc::new(SystemIds));
    let registry = Registry::new();
    let parts = GcParts {
        tenancy: store.clone(),
        retention: store.clone(),
        leases: store.clone(),
        clock: clock.clone(),
        ids: Arc::new(SystemIds),
        metrics: GcMetrics::register(&registry).unwrap(),
        settings,
    };
    Swept {
        store,
        clock,
        parts,
        registry,
    }
}

fn context() -> JobContext {
    JobContext::until(Instant::now() + Duration::from_mins(10))
}

fn done(tenant: &TenantId, pass: &'static str, rows: u64, bytes: u64) -> Done {
    Done {
        tenant: tenant.clone(),
        pass,
        rows,
        bytes,
    }
}

impl Swept {
    async fn tenant(&self, name: &str, config: TenantConfig) -> (TenantId, UserId) {
        let tenant = TenantId::parse(name).unwrap();
        self.store.create_tenant(&tenant, config).await.unwrap();
        let who = ChannelUser::new(PlatformKind::Custom, "1").unwrap();
        let user = self.store.resolve(&tenant, &who).await.unwrap().user_id;
        (tenant, user)
    }

    /// Turns of five bytes.
    async fn fill(&self, (tenant, user): &(TenantId, UserId), turns: u32) {
        let key = |number| format!("{} {number}", self.clock.now());
        let turns = (0..turns).map(|number| turn(*user, &key(number)).build());
        for answer in self.store.append_batch(tenant, turns.collect()).await {
            answer.unwrap();
        }
    }

    async fn sweep(&self, visiting: Visiting, context: &JobContext) -> Report {
        Gc::new(self.parts.clone(), visiting).run(context).await
    }

    async fn kept(&self, (tenant, user): &(TenantId, UserId)) -> u64 {
        self.store.usage(tenant, *user).await.unwrap().turn_count
    }

    fn metric(&self, series: &str) -> f64 {
        let text = TextEncoder::new()
            .encode_to_string(&self.registry.gather())
            .unwrap();
        let line = text.lines().find(|line| line.starts_with(series));
        line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    }
}

//
#[tokio::test]
async fn a_sweep_does_each_pass_for_each_tenant_and_says_so() {
    let swept = swept(GcSettings {
        chunk: Chunk::new(3),
        ..GcSettings::default()
    });
    let short = TenantConfig {
        ttl_days: 1,
        ..TenantConfig::default()
    };
    let acme = swept.tenant("acme", short.clone()).await;
    swept.fill(&acme, 10).await;
    swept.clock.advance(2 * DAY);
    swept.fill(&acme, 4).await;
    let beta = swept.tenant("beta", TenantConfig::default()).await;
    swept.fill(&beta, 9).await;
    let capped = TenantConfig {
        turn_cap: 5,
        ..TenantConfig::default()
    };
    swept.store.configure(&beta.0, capped, None).await.unwrap();
    let report = swept.sweep(Visiting::AtServiceTime, &context()).await;
    let expected = [done(&acme.0, "ttl", 10, 50), done(&beta.0, "count", 4, 20)];
    assert_eq!((report.tenants, &report.done[..]), (2, &expected[..]));
    assert!(matches!(report.outcome, Outcome::Done));
    assert_eq!((swept.kept(&acme).await, swept.kept(&beta).await), (4, 5));
    assert_eq!(swept.metric("ccm_gc_deletes_total{pass=\"ttl\"}"), 10.0);
    assert_eq!(swept.metric("ccm_gc_deletes_total{pass=\"count\"}"), 4.0);
    assert_eq!(swept.metric("ccm_gc_deletes_total{pass=\"audit\"}"), 0.0);
    let again = swept.sweep(Visiting::AtServiceTime, &context()).await;
    assert_eq!(again.done, []);
}

// failures.md 17
#[tokio::test]
async fn a_shorter_retention_is_carried_through_by_the_next_sweep() {
    let swept = swept(GcSettings {
        chunk: Chunk::new(3),
        ..GcSettings::default()
    });
    let acme = swept.tenant("acme", TenantConfig::default()).await;
    swept.fill(&acme, 10).await;
    swept.clock.advance(8 * DAY);
    swept.fill(&acme, 2).await;
    let week = TenantConfig {
        ttl_days: 7,
        ..TenantConfig::default()
    };
    swept.store.configure(&acme.0, week, None).await.unwrap();
    let report = swept.sweep(Visiting::AtServiceTime, &context()).await;
    let expected = [
        done(&acme.0, "restamp", 12, 0),
        done(&acme.0, "ttl", 10, 50),
    ];
    assert_eq!(report.done, expected);
    assert_eq!(swept.kept(&acme).await, 2);
}

#[tokio::test]
async fn a_dry_run_says_what_would_go_and_leaves_it() {
    let swept = swept(GcSettings::default());
    let short = TenantConfig {
        ttl_days: 1,
        ..TenantConfig::default()
    };
    let acme = swept.tenant("acme", short.clone()).await;
    let beta = swept.tenant("beta", short).await;
    swept.fill(&acme, 3).await;
    swept.fill(&beta, 3).await;
    swept.clock.advance(DAY);
    let tenant = Some(beta.0.clone());
    let asked = context().asked(Request {
        dry_run: true,
        tenant,
    });
    let report = swept.sweep(Visiting::AtServiceTime, &asked).await;
    assert_eq!(report.done, [done(&beta.0, "ttl", 3, 15)]);
    assert_eq!((swept.kept(&acme).await, swept.kept(&beta).await), (3, 3));
    let nobody = TenantId::parse("nobody").unwrap();
    let asked = context().asked(Request {
        dry_run: false,
        tenant: Some(nobody),
    });
    let report = swept.sweep(Visiting::AtServiceTime, &asked).await;
    assert!(matches!(report.outcome, Outcome::Failed(_)));
}

// D-04
#[tokio::test]
async fn a_tenant_that_another_replica_has_is_left_to_it_until_its_claim_ends() {
    let swept = swept(GcSettings::default());
    let short = TenantConfig {
        ttl_days: 1,
        ..TenantConfig::default()
    };
    let (acme, beta) = (
        swept.tenant("acme", short.clone()).await,
        swept.tenant("beta", short).await,
    );
    swept.fill(&acme, 3).await;
    swept.fill(&beta, 3).await;
    swept.clock.advance(DAY);
    let (job, tenant, owner) = ("gc", acme.0.clone(), LeaseOwner(7));
    let other = Lease { job, tenant, owner };
    assert!(
        swept
            .store
            .acquire(&other, Duration::from_mins(1))
            .await
            .unwrap()
    );
    let report = swept.sweep(Visiting::AtServiceTime, &context()).await;
    assert_eq!(
        (report.left_to_others, &report.done[..]),
        (1, &[done(&beta.0, "ttl", 3, 15)][..])
    );
    assert_eq!(swept.kept(&acme).await, 3);
    swept.clock.advance(Duration::from_mins(1));
    let report = swept.sweep(Visiting::AtServiceTime, &context()).await;
    assert_eq!(report.done, [done(&acme.0, "ttl", 3, 15)]);
}

/// A large tenant gets its slice, then the others theirs, then it goes on (D-04).
#[tokio::test]
async fn a_large_tenant_starves_nobody_and_is_finished_in_the_end() {
    let settings = GcSettings {
        chunk: Chunk::new(1),
        slice: Duration::ZERO,
        ..GcSettings::default()
    };
    let swept = swept(settings);
    let short = TenantConfig {
        ttl_days: 1,
        ..TenantConfig::default()
    };
    let (acme, beta) = (
        swept.tenant("acme", short.clone()).await,
        swept.tenant("beta", short).await,
    );
    swept.fill(&acme, 20).await;
    swept.fill(&beta, 2).await;
    swept.clock.advance(DAY);
    let report = swept.sweep(Visiting::AtServiceTime, &context()).await;
    // A chunk each in turn: the small tenant, though visited second, was done long before the large one.
    let expected = [done(&beta.0, "ttl", 2, 10), done(&acme.0, "ttl", 20, 100)];
    assert_eq!(report.done, expected);
    assert!(matches!(report.outcome, Outcome::Done));
    assert_eq!(swept.store.cursor("gc").await.unwrap(), Some(beta.0));
}

#[tokio::test]
async fn a_sweep_that_is_told_to_stop_ends_between_two_chunks_and_goes_on_from_there() {
    let swept = swept(GcSettings {
        chunk: Chunk::new(1),
        ..GcSettings::default()
    });
    let short = TenantConfig {
        ttl_days: 1,
        ..TenantConfig::default()
    };
    let (acme, beta) = (
        swept.tenant("acme", short.clone()).await,
        swept.tenant("beta", short).await,
    );
    swept.fill(&acme, 5).await;
    swept.fill(&beta, 5).await;
    swept.clock.advance(DAY);
    // The time is spent from the start: the chunk at hand is finished, no other is begun.
    let spent = JobContext::until(Instant::now());
    let only = Request {
        dry_run: false,
        tenant: Some(acme.0.clone()),
    };
    let report = swept
        .sweep(Visiting::AtServiceTime, &spent.clone().asked(only))
        .await;
    assert!(matches!(report.outcome, Outcome::Partial));
    assert_eq!((report.rows("ttl"), swept.kept(&acme).await), (0, 5));
    let stopped = context();
    stopped.stop();
    let report = swept.sweep(Visiting::AtServiceTime, &stopped).await;
    assert!(matches!(report.outcome, Outcome::Partial));
    // Nobody holds a claim: the next run does everything.
    let report = swept.sweep(Visiting::AtServiceTime, &context()).await;
    assert_eq!((report.rows("ttl"), report.left_to_others), (10, 0));
}

#[tokio::test]
async fn a_tenant_with_its_own_schedule_is_swept_when_that_is_due() {
    let swept = swept(GcSettings::default());
    let own = TenantConfig {
        ttl_days: 1,
        gc_cron: Some("0 4 * * *".to_owned()),
        ..TenantConfig::default()
    };
    let acme = swept.tenant("acme", own).await;
    swept.fill(&acme, 1).await;
    // 22:13, two days later: due since 04:00 of the first.
    swept.clock.advance(2 * DAY);
    let report = swept.sweep(Visiting::AtServiceTime, &context()).await;
    assert_eq!((report.tenants, &report.done[..]), (0, &[][..]));
    let report = swept.sweep(Visiting::AtTheirOwnTime, &context()).await;
    assert_eq!(report.done, [done(&acme.0, "ttl", 1, 5)]);
    let report = swept.sweep(Visiting::AtTheirOwnTime, &context()).await;
    assert_eq!(report.tenants, 0, "it is not due again");
    swept
        .clock
        .advance(Duration::from_secs(5 * 3_600 + 46 * 60 + 40));
    let report = swept.sweep(Visiting::AtTheirOwnTime, &context()).await;
    assert_eq!(report.tenants, 1, "it is four o'clock");
}

#[tokio::test]
async fn the_lag_is_how_long_the_first_ended_turn_waits() {
    let swept = swept(GcSettings::default());
    let short = TenantConfig {
        ttl_days: 1,
        ..TenantConfig::default()
    };
    let acme = swept.tenant("acme", short).await;
    swept.fill(&acme, 1).await;
    let retention: Arc<dyn Retention> = swept.store.clone();
    let job = GcLag::new(retention, swept.clock.clone(), swept.parts.metrics.clone());
    job.run(&context()).await;
    assert_eq!(swept.metric("ccm_gc_lag_seconds"), 0.0);
    swept.clock.advance(DAY + Duration::from_secs(90));
    job.run(&context()).await;
    assert_eq!(swept.metric("ccm_gc_lag_seconds"), 90.0);
    swept.sweep(Visiting::AtServiceTime, &context()).await;
    job.run(&context()).await;
    assert_eq!(swept.metric("ccm_gc_lag_seconds"), 0.0);
}
