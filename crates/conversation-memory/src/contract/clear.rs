//! Cases of `clear` (T-24).

use std::time::Duration;

use throughline_domain::TenantId;

use super::sample::{acme_and_mina, latest, now, said, scope, store_one, told, usage};
use super::{Subject, turn};
use crate::{AppendOutcome, ChannelScope};

async fn clear(subject: &dyn Subject, tenant: &TenantId, scope: &ChannelScope) {
    let cleared = subject.memory().clear(tenant, scope).await;
    cleared.expect("clears");
}

/// What was stored before is left out, what is stored afterwards appears.
pub async fn a_cleared_scope_starts_again(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let c1 = scope("slack-user", "C1");
    for round in ["a", "b", "c"] {
        store_one(subject, &acme, turn(mina, round).saying(round).build()).await;
        assert_eq!(said(&told(subject, &acme, &c1).await), [round]);
        clear(subject, &acme, &c1).await;
        assert_eq!(told(subject, &acme, &c1).await, []);
    }
}

/// The watermark is a place in the log, not a time: a turn stored afterwards appears, though it was
/// said before the clearing, and one that claims the future does not outlive it.
pub async fn a_late_turn_appears_after_a_clearing(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let c1 = scope("slack-user", "C1");
    let at = |minutes| now(subject).minus(Duration::from_mins(minutes));
    let ahead = now(subject).plus(Duration::from_mins(1));
    store_one(subject, &acme, turn(mina, "a").at(at(1)).build()).await;
    store_one(subject, &acme, turn(mina, "b").at(ahead).build()).await;
    clear(subject, &acme, &c1).await;
    store_one(
        subject,
        &acme,
        turn(mina, "c").saying("late").at(at(5)).build(),
    )
    .await;
    store_one(subject, &acme, turn(mina, "d").saying("new").build()).await;
    assert_eq!(said(&told(subject, &acme, &c1).await), ["late", "new"]);
}

/// Clearing twice, or what was never seen, is no error and hides nothing that comes later.
pub async fn clearing_twice_or_an_unseen_scope_is_no_error(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let c1 = scope("slack-user", "C1");
    clear(subject, &acme, &c1).await;
    clear(subject, &acme, &c1).await;
    store_one(subject, &acme, turn(mina, "a").saying("a").build()).await;
    assert_eq!(said(&told(subject, &acme, &c1).await), ["a"]);
    clear(subject, &acme, &c1).await;
    clear(subject, &acme, &c1).await;
    assert_eq!(told(subject, &acme, &c1).await, []);
}

/// Clearing hides a scope's history and nothing else: recent turns and counters stay.
pub async fn clearing_deletes_nothing(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store_one(subject, &acme, turn(mina, "a").build()).await;
    let before = (
        latest(subject, &acme, mina).await,
        usage(subject, &acme, mina).await,
    );
    clear(subject, &acme, &scope("slack-user", "C1")).await;
    let after = (
        latest(subject, &acme, mina).await,
        usage(subject, &acme, mina).await,
    );
    assert_eq!(after, before);
    assert_eq!(before.0.len(), 1);
}

/// A retry of a turn stored before the clearing is a duplicate and does not bring it back.
pub async fn a_retry_brings_no_cleared_turn_back(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let c1 = scope("slack-user", "C1");
    store_one(subject, &acme, turn(mina, "a").build()).await;
    clear(subject, &acme, &c1).await;
    let again = subject
        .memory()
        .append(&acme, turn(mina, "a").build())
        .await;
    assert_eq!(again.expect("found").outcome, AppendOutcome::Duplicate);
    assert_eq!(told(subject, &acme, &c1).await, []);
}

/// failures.md 12: clearing one scope leaves every other scope, kind and tenant as it was.
pub async fn clearing_one_scope_leaves_the_others(subject: &dyn Subject) {
    let scopes = [
        ("slack-user", "C1"),
        ("slack-user", "C12"),
        ("slack-user", "c1"),
        ("teams-aad", "C1"),
        ("slack", "C1"),
    ];
    let mut places = Vec::new();
    for name in super::sample::LOOKALIKES {
        let tenant = subject.tenant(name, 90).await;
        let user = subject.user(&tenant).await;
        for (kind, id) in scopes {
            let key = format!("{kind} {id}");
            store_one(subject, &tenant, turn(user, &key).on(kind, id).build()).await;
            let read = told(subject, &tenant, &scope(kind, id)).await;
            assert_eq!(read.len(), 1);
            places.push((tenant.clone(), scope(kind, id), read));
        }
    }
    let (tenant, cleared, _) = places.remove(0);
    clear(subject, &tenant, &cleared).await;
    assert_eq!(told(subject, &tenant, &cleared).await, []);
    for (tenant, scope, before) in places {
        assert_eq!(told(subject, &tenant, &scope).await, before, "{tenant}");
    }
}
