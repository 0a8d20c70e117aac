//! Cases of claims on tenants (D-04).

use std::time::Duration;

use throughline_domain::TenantId;

use super::RetentionSubject;
use super::sample::now;
use super::together::together;
use crate::{Lease, LeaseOwner};

const LIFE: Duration = Duration::from_mins(1);

fn claim(tenant: &TenantId, owner: u128) -> Lease {
    Lease {
        job: "gc",
        tenant: tenant.clone(),
        owner: LeaseOwner(owner),
    }
}

async fn takes(subject: &dyn RetentionSubject, lease: &Lease) -> bool {
    let taken = subject.leases().acquire(lease, LIFE).await;
    taken.expect("answers")
}

async fn keeps(subject: &dyn RetentionSubject, lease: &Lease) -> bool {
    let kept = subject.leases().renew(lease, LIFE).await;
    kept.expect("answers")
}

/// Of many who ask at once one gets it; asking again is no second claim.
pub async fn a_claim_is_held_by_one(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let claims: Vec<Lease> = (1..=20).map(|owner| claim(&acme, owner)).collect();
    let asked = claims.iter().cloned().map(|lease| {
        let leases = subject.leases();
        async move { leases.acquire(&lease, LIFE).await.expect("answers") }
    });
    let taken = together(asked.collect()).await;
    let winners: Vec<_> = claims.iter().zip(taken).filter(|(_, won)| *won).collect();
    assert_eq!(winners.len(), 1);
    let winner = winners[0].0;
    assert!(takes(subject, winner).await);
    assert!(keeps(subject, winner).await);
    let loser = claim(&acme, 99);
    assert!(!takes(subject, &loser).await);
    assert!(!keeps(subject, &loser).await);
}

/// A holder that died blocks nobody for long, and one that slept too long learns that it lost.
pub async fn a_claim_ends_by_itself_and_is_lost(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let (first, second) = (claim(&acme, 1), claim(&acme, 2));
    assert!(takes(subject, &first).await);
    subject.clock().advance(LIFE / 2);
    assert!(keeps(subject, &first).await);
    subject
        .clock()
        .advance(LIFE.saturating_sub(Duration::from_micros(1)));
    assert!(!takes(subject, &second).await);
    subject.clock().advance(Duration::from_micros(1));
    assert!(!keeps(subject, &first).await, "it is over, taken or not");
    assert!(takes(subject, &second).await);
    assert!(!keeps(subject, &first).await);
    // What the loser gives back is not its own any more.
    subject
        .leases()
        .release(&first, true)
        .await
        .expect("answers");
    assert!(keeps(subject, &second).await);
    let done = subject.leases().finished_at("gc", &acme).await;
    assert_eq!(done.expect("reads"), None);
}

/// The next one may have it at once, and knows when the job was last done to the end.
pub async fn a_claim_given_back_says_when_the_job_was_done(subject: &dyn RetentionSubject) {
    let acme = subject.tenant("acme", 90).await;
    let (first, second) = (claim(&acme, 1), claim(&acme, 2));
    assert!(takes(subject, &first).await);
    subject
        .leases()
        .release(&first, true)
        .await
        .expect("answers");
    let done = now(subject);
    assert!(takes(subject, &second).await);
    subject.clock().advance(LIFE / 2);
    subject
        .leases()
        .release(&second, false)
        .await
        .expect("answers");
    let last = subject.leases().finished_at("gc", &acme).await;
    assert_eq!(last.expect("reads"), Some(done));
}

/// failures.md 10
pub async fn claims_of_other_tenants_and_jobs_are_apart(subject: &dyn RetentionSubject) {
    for name in super::sample::LOOKALIKES {
        let tenant = subject.tenant(name, 90).await;
        for job in ["gc", "outbox"] {
            let lease = Lease {
                job,
                ..claim(&tenant, 1)
            };
            assert!(takes(subject, &lease).await, "{job} of {name}");
        }
    }
}

/// D-04: whichever replica was there last.
pub async fn a_job_remembers_where_it_was(subject: &dyn RetentionSubject) {
    let leases = subject.leases();
    assert_eq!(leases.cursor("gc").await.expect("reads"), None);
    for name in ["acme", "beta", "acme"] {
        let tenant = subject_tenant(name);
        leases.move_cursor("gc", &tenant).await.expect("moved");
        assert_eq!(leases.cursor("gc").await.expect("reads"), Some(tenant));
    }
    assert_eq!(leases.cursor("outbox").await.expect("reads"), None);
}

fn subject_tenant(name: &str) -> TenantId {
    TenantId::parse(name).expect("a plain name")
}
