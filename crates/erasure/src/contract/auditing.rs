//! Cases of reading the trail.

use std::time::Duration;

use throughline_conversation_memory::{AuditEvent, AuditOp, AuditQuery, MemoryError};
use throughline_domain::{Clock as _, TenantId, Timestamp};

use super::Subject;
use super::sample::{erase, merge, operator, person, tenant};
use crate::Mode;

async fn read(subject: &dyn Subject, tenant: &TenantId, query: AuditQuery) -> Vec<AuditEvent> {
    let events = subject.audit().events(tenant, &query).await;
    events.expect("reads")
}

/// Three merges, one taken back, and an erasure, a second apart; when the first was.
async fn eventful(subject: &dyn Subject, tenant: &TenantId) -> Timestamp {
    let begin = subject.clock().now();
    let mina = person(subject, tenant, "mina", 0).await;
    for name in ["a", "b", "c"] {
        let other = person(subject, tenant, name, 0).await;
        merge(subject, tenant, mina, other).await.expect("merged");
        subject.clock().advance(Duration::from_secs(1));
    }
    let merges = subject.identity().merges(tenant, mina).await;
    let last = merges.expect("reads").pop().expect("three").id;
    let undone = subject.identity();
    let undone = undone.undo_merge(tenant, last, &operator()).await;
    let alone = undone.expect("undone").secondary_user_id;
    subject.clock().advance(Duration::from_secs(1));
    erase(subject, tenant, alone, Mode::Erase)
        .await
        .expect("erased");
    begin
}

/// By operation, from a moment on, before a moment; each alone and all together.
pub async fn the_trail_is_read_by_operation_and_time(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    let begin = eventful(subject, &acme).await;
    let at = |seconds| Some(begin.plus(Duration::from_secs(seconds)));
    let all = AuditQuery::latest(100);
    let ops = async |query| {
        let events = read(subject, &acme, query).await;
        events
            .iter()
            .map(|event| event.detail.op())
            .collect::<Vec<_>>()
    };
    let (merged, undone, erased) = (
        AuditOp::MergeIdentities,
        AuditOp::UndoMerge,
        AuditOp::ForgetUser,
    );
    assert_eq!(ops(all).await, [erased, undone, merged, merged, merged]);
    let op = Some(merged);
    assert_eq!(ops(AuditQuery { op, ..all }).await, [merged; 3]);
    let since = at(3);
    assert_eq!(ops(AuditQuery { since, ..all }).await, [erased, undone]);
    let until = at(1);
    assert_eq!(ops(AuditQuery { until, ..all }).await, [merged]);
    let (since, until) = (at(1), at(4));
    let between = AuditQuery {
        since,
        until,
        op,
        ..all
    };
    assert_eq!(ops(between).await, [merged; 2]);
    let op = Some(AuditOp::ReadRaw);
    assert_eq!(ops(AuditQuery { op, ..all }).await, []);
    assert_eq!(read(subject, &corp, all).await, []);
    let nowhere = TenantId::parse("nowhere").expect("a plain name");
    let refused = subject.audit().events(&nowhere, &all).await;
    assert!(
        matches!(refused, Err(MemoryError::UnknownTenant(_))),
        "{refused:?}"
    );
}

/// failures.md 6: each entry once, whatever is written between the pages.
pub async fn the_pages_of_the_trail_hold_each_entry_once(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    eventful(subject, &acme).await;
    let whole = read(subject, &acme, AuditQuery::latest(100)).await;
    let mut paged = Vec::new();
    let mut query = AuditQuery::latest(2);
    for page in 0.. {
        let events = read(subject, &acme, query).await;
        let Some(last) = events.last() else {
            break;
        };
        query.before = Some(last.id);
        paged.extend(events);
        subject.clock().advance(Duration::from_secs(1));
        let new = person(subject, &acme, &format!("late-{page}"), 0).await;
        erase(subject, &acme, new, Mode::Erase)
            .await
            .expect("erased");
    }
    assert_eq!(paged, whole);
}
