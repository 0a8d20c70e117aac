//! The sweep over what is stored unscanned, or scanned by an older detector.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use throughline_conversation_memory::contract::{Subject as _, turn};
use throughline_conversation_memory::{
    RawReads as _, RecentQuery, RedactionQueue as _, RedactionState,
};
use throughline_domain::{Actor, TenantId, UserId};
use throughline_redacted_memory::{FAILURES, Swept};
use throughline_tenancy::RedactionMode;

use crate::stand_in::StandIn;
use crate::subject::Redacted;

const TEXT: &str = "write jo@example.com today";

async fn sweep(subject: &Redacted) -> Swept {
    let swept = subject.sweep().scan_pending(None, &|| false).await;
    swept.expect("sweeps")
}

async fn words(subject: &Redacted, tenant: &TenantId, user: UserId) -> Vec<String> {
    let page = subject.page(tenant, user).await;
    page.turns
        .into_iter()
        .map(|turn| turn.user_message)
        .collect()
}

/// Every tenant gets its turn before any gets a second one.
#[tokio::test]
async fn a_small_tenant_does_not_wait_for_a_large_one() {
    let subject = Redacted::new(RedactionMode::Deferred, StandIn::new(1));
    let mut people = Vec::new();
    for (name, turns) in [("a-large", 300), ("b-small", 1)] {
        let tenant = subject.tenant(name, 90).await;
        let user = subject.user(&tenant).await;
        for n in 0..turns {
            let turn = turn(user, &n.to_string()).saying("hello").pending();
            subject.append(&tenant, turn).await;
        }
        people.push((tenant, user));
    }
    // Stopped after two chunks: one of each tenant.
    let asked = AtomicU32::new(0);
    let stop = || asked.fetch_add(1, Ordering::SeqCst) >= 2;
    let swept = subject.sweep().scan_pending(None, &stop).await.unwrap();
    assert!(!swept.finished);
    let scanned: Vec<u64> = swept
        .tenants
        .values()
        .map(|counts| counts.scanned)
        .collect();
    assert_eq!(scanned, [64, 1]);

    let swept = sweep(&subject).await;
    assert!(swept.finished);
    assert_eq!(swept.tenants[&people[0].0].scanned, 236);
    assert_eq!(sweep(&subject).await.tenants.len(), 0);
    assert_eq!(subject.metric("ccm_redaction_pending"), 0.0);
}

#[tokio::test]
async fn one_tenant_can_be_swept_alone() {
    let subject = Redacted::new(RedactionMode::Deferred, StandIn::new(1));
    let (acme, mina) = subject.acme_and_mina().await;
    let other = subject.tenant("other", 90).await;
    let noor = subject.user(&other).await;
    subject.append(&acme, turn(mina, "1").pending()).await;
    subject.append(&other, turn(noor, "1").pending()).await;
    let swept = subject.sweep().scan_pending(Some(&other), &|| false).await;
    assert_eq!(swept.unwrap().tenants.len(), 1);
    assert_eq!(subject.page(&acme, mina).await.pending_excluded, 1);
    assert_eq!(subject.page(&other, noor).await.pending_excluded, 0);
}

/// T-45: five failures, then both texts, tool calls and metadata are covered: never unscanned, never
/// tried for ever.
#[tokio::test]
async fn a_turn_that_no_scan_gets_through_ends_covered_whole() {
    let subject = Redacted::new(RedactionMode::Deferred, StandIn::new(1));
    let (acme, mina) = subject.acme_and_mina().await;
    let poison = turn(mina, "1")
        .saying("crash jo@example.com")
        .answered("sure, jo");
    let poison = poison
        .tools(serde_json::json!(["a"]))
        .metadata(serde_json::json!({"m": "x"}));
    subject.append(&acme, poison.pending()).await;
    subject
        .append(&acme, turn(mina, "2").saying(TEXT).pending())
        .await;
    for failed in 1..FAILURES {
        let swept = sweep(&subject).await;
        assert!(swept.finished);
        assert_eq!(swept.tenants[&acme].failed, 1);
        let page = subject.page(&acme, mina).await;
        assert_eq!(
            (page.turns.len(), page.pending_excluded),
            (1, 1),
            "{failed}"
        );
    }
    let swept = sweep(&subject).await;
    assert_eq!(
        (swept.tenants[&acme].failed, swept.tenants[&acme].covered),
        (0, 1)
    );
    let page = subject.page(&acme, mina).await;
    assert_eq!(page.pending_excluded, 0);
    let covered = &page.turns[1];
    assert_eq!(covered.redaction.state(), RedactionState::Redacted);
    assert_eq!(covered.user_message, "[UNSCANNED]");
    assert_eq!(covered.assistant_answer, "[UNSCANNED]");
    assert_eq!(
        covered.tool_calls.as_ref().unwrap().as_str(),
        "\"[UNSCANNED]\""
    );
    assert_eq!(covered.metadata.as_str(), "{\"masked\":\"[UNSCANNED]\"}");
    assert_eq!(
        sweep(&subject).await,
        Swept {
            finished: true,
            ..Swept::default()
        }
    );
    assert_eq!(subject.metric("ccm_redaction_covered_total"), 1.0);

    // A better detector does not show it by itself; an operator's narrowing does.
    let better = StandIn::new(2);
    better.panics.store(false, Ordering::SeqCst);
    let subject = subject.with_detector(better);
    sweep(&subject).await;
    assert_eq!(words(&subject, &acme, mina).await[1], "[UNSCANNED]");
    subject.sweep().narrow(&acme, &|| false).await.unwrap();
    assert_eq!(words(&subject, &acme, mina).await[1], "crash [EMAIL]");
}

#[tokio::test]
async fn a_scan_that_never_ends_counts_as_a_failure() {
    let detector = StandIn::new(1);
    let gate = detector.gate.clone();
    let shut = gate.lock().await;
    let subject = Redacted::new(RedactionMode::Deferred, detector);
    let (acme, mina) = subject.acme_and_mina().await;
    subject
        .append(&acme, turn(mina, "1").saying("wait").pending())
        .await;
    let sweep = subject.sweep().patient_for(Duration::from_millis(1));
    for _ in 0..FAILURES {
        sweep.scan_pending(None, &|| false).await.unwrap();
    }
    assert_eq!(words(&subject, &acme, mina).await, ["[UNSCANNED]"]);
    drop(shut);
}

/// A newer detector looks at what an older one had looked at; masks only grow by themselves.
#[tokio::test]
async fn a_newer_detector_widens_by_itself_and_narrows_only_when_told() {
    let blind = StandIn::new(1);
    blind.blind.store(true, Ordering::SeqCst);
    let subject = Redacted::new(RedactionMode::Inline, blind);
    let (acme, mina) = subject.acme_and_mina().await;
    subject
        .append(&acme, turn(mina, "1").saying(TEXT).pending())
        .await;
    assert_eq!(words(&subject, &acme, mina).await, [TEXT]);

    let subject = subject.with_detector(StandIn::new(2));
    assert_eq!(sweep(&subject).await.tenants[&acme].scanned, 1);
    assert_eq!(words(&subject, &acme, mina).await, ["write [EMAIL] today"]);

    let blind = StandIn::new(3);
    blind.blind.store(true, Ordering::SeqCst);
    let subject = subject.with_detector(blind);
    let swept = sweep(&subject).await;
    assert_eq!(
        (swept.tenants[&acme].scanned, swept.tenants[&acme].kept),
        (1, 1)
    );
    assert_eq!(words(&subject, &acme, mina).await, ["write [EMAIL] today"]);
    assert_eq!(
        sweep(&subject).await.tenants.len(),
        0,
        "looked at, though nothing changed"
    );

    let narrowed = subject.sweep().narrow(&acme, &|| false).await.unwrap();
    assert!(narrowed.finished && narrowed.tenants[&acme].scanned == 1);
    assert_eq!(words(&subject, &acme, mina).await, [TEXT]);
}

/// An older detector, on a replica that is not upgraded yet, leaves newer results alone.
#[tokio::test]
async fn an_older_detector_touches_no_newer_result() {
    let subject = Redacted::new(RedactionMode::Inline, StandIn::new(2));
    let (acme, mina) = subject.acme_and_mina().await;
    subject
        .append(&acme, turn(mina, "1").saying(TEXT).pending())
        .await;
    let subject = subject.with_detector(StandIn::new(1));
    assert_eq!(sweep(&subject).await.tenants.len(), 0);
    let query = RecentQuery::default();
    let olga = Actor::parse("olga").unwrap();
    let raw = subject
        .store
        .recent_raw(&acme, mina, &query, &olga)
        .await
        .unwrap();
    assert_eq!(raw.turns[0].redaction.detector_version(), Some(2));
}

/// Two sweeps at once scan some turns twice and settle each once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sweeps_at_once_leave_every_turn_scanned_once() {
    let subject = Redacted::new(RedactionMode::Deferred, StandIn::new(1));
    let (acme, mina) = subject.acme_and_mina().await;
    for n in 0..200 {
        subject
            .append(&acme, turn(mina, &n.to_string()).saying(TEXT).pending())
            .await;
    }
    let (one, two) = (subject.sweep(), subject.sweep());
    let (one, two) = tokio::join!(
        one.scan_pending(None, &|| false),
        two.scan_pending(None, &|| false)
    );
    let scanned = [one, two].map(|swept| {
        let swept = swept.unwrap();
        swept
            .tenants
            .values()
            .map(|counts| counts.scanned)
            .sum::<u64>()
    });
    assert_eq!(scanned[0] + scanned[1], 200);
    assert_eq!(subject.store.backlog().await.unwrap().pending, 0);
    assert_eq!(subject.page(&acme, mina).await.pending_excluded, 0);
}

// T-45: the backlog is seen.
#[tokio::test]
async fn the_backlog_is_a_gauge_with_an_age() {
    let subject = Redacted::new(RedactionMode::Deferred, StandIn::new(1));
    for name in [
        "ccm_redaction_pending",
        "ccm_redaction_oldest_pending_seconds",
    ] {
        assert_eq!(subject.metric(name), 0.0, "{name}");
    }
    let (acme, mina) = subject.acme_and_mina().await;
    subject.append(&acme, turn(mina, "1").pending()).await;
    subject.clock.advance(Duration::from_secs(90));
    subject.append(&acme, turn(mina, "2").pending()).await;
    subject.sweep().measure().await.unwrap();
    assert_eq!(subject.metric("ccm_redaction_pending"), 2.0);
    assert_eq!(subject.metric("ccm_redaction_oldest_pending_seconds"), 90.0);
    sweep(&subject).await;
    assert_eq!(subject.metric("ccm_redaction_pending"), 0.0);
    assert_eq!(subject.metric("ccm_redaction_oldest_pending_seconds"), 0.0);
}
