//! Cases of asking an operator whether two are one.

use std::time::Duration;

use throughline_domain::{Actor, ReviewId, TenantId, UserId};
use throughline_platform_identity::{
    Decision, DecisionReason, IdentityError, MergeSource, Review, ReviewQuery, ReviewReason,
    ReviewState, Verdict,
};

use super::Subject;
use super::sample::{
    ALL_REVIEWS, MAIL, erase, joining, merge, merges, operator, person, questions, reviews, seen,
    snapshot, teams, tenant,
};
use crate::Mode;

fn proposer() -> Actor {
    Actor::parse("key 01J0").expect("a plain name")
}

fn because(text: &str) -> DecisionReason {
    DecisionReason::parse(text).expect("a plain reason")
}

async fn propose(
    subject: &dyn Subject,
    tenant: &TenantId,
    one: UserId,
    two: UserId,
) -> Result<ReviewId, IdentityError> {
    subject
        .identity()
        .propose_merge(tenant, one, two, &proposer())
        .await
}

async fn decide(
    subject: &dyn Subject,
    tenant: &TenantId,
    review: ReviewId,
    verdict: Verdict,
) -> Result<Review, IdentityError> {
    let identity = subject.identity();
    identity
        .decide_review(
            tenant,
            review,
            verdict,
            &because("seen the passport"),
            &operator(),
        )
        .await
}

/// Nothing moves until somebody decided; accepting merges in the same step, in the operator's name.
pub async fn a_proposal_waits_for_an_operator(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 2).await;
    let before = snapshot(subject, &acme, other).await;
    let id = propose(subject, &acme, mina, other).await.expect("asked");
    assert_eq!(snapshot(subject, &acme, other).await, before);
    let open = reviews(subject, &acme).await;
    assert_eq!(
        (open[0].id, open[0].state, open.len()),
        (id, ReviewState::Open, 1)
    );
    assert_eq!(open[0].proposed_by, Some(proposer()));

    let decided = decide(subject, &acme, id, Verdict::Accept)
        .await
        .expect("decided");
    let made = merges(subject, &acme, other).await;
    assert_eq!(
        (made[0].primary_user_id, made[0].source),
        (mina, MergeSource::Manual)
    );
    assert_eq!(made[0].actor, operator());
    let decision = Decision {
        at: throughline_domain::Clock::now(&*subject.clock()),
        actor: operator(),
        reason: because("seen the passport"),
        merge_id: Some(made[0].id),
    };
    assert_eq!(
        (decided.state, decided.decision.as_ref()),
        (ReviewState::Accepted, Some(&decision))
    );
    assert_eq!(reviews(subject, &acme).await, [decided]);
}

/// Two people stay two, and a proposal can be made again later.
pub async fn a_declined_proposal_leaves_two_people(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let before = (
        snapshot(subject, &acme, mina).await,
        snapshot(subject, &acme, other).await,
    );
    let id = propose(subject, &acme, mina, other).await.expect("asked");
    let decided = decide(subject, &acme, id, Verdict::Decline)
        .await
        .expect("decided");
    assert_eq!(decided.state, ReviewState::Declined);
    assert_eq!(decided.decision.expect("decided").merge_id, None);
    let after = (
        snapshot(subject, &acme, mina).await,
        snapshot(subject, &acme, other).await,
    );
    assert_eq!(after, before);
    let again = propose(subject, &acme, mina, other).await.expect("asked");
    assert_ne!(again, id);
}

/// The same open question has one id; an answered one stays answered.
pub async fn a_question_is_asked_once_and_answered_once(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let id = propose(subject, &acme, mina, other).await.expect("asked");
    assert_eq!(
        propose(subject, &acme, mina, other).await.expect("asked"),
        id
    );
    // Merged otherwise in the meantime: accepting is right, and makes no second merge.
    merge(subject, &acme, mina, other).await.expect("merged");
    let decided = decide(subject, &acme, id, Verdict::Accept)
        .await
        .expect("decided");
    assert_eq!(decided.decision.expect("decided").merge_id, None);
    for verdict in [Verdict::Accept, Verdict::Decline] {
        let again = decide(subject, &acme, id, verdict).await;
        assert!(
            matches!(again, Err(IdentityError::AlreadyDecided(_))),
            "{again:?}"
        );
    }
    let unknown = decide(subject, &acme, ReviewId::from_u128(7), Verdict::Accept).await;
    assert!(
        matches!(unknown, Err(IdentityError::UnknownReview(_))),
        "{unknown:?}"
    );
    assert_eq!(merges(subject, &acme, mina).await.len(), 1);
}

/// T-50 holds for proposals too.
pub async fn a_proposal_about_nobody_is_refused(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let gone = person(subject, &acme, "gone", 1).await;
    erase(subject, &acme, gone, Mode::Erase)
        .await
        .expect("erased");
    for nobody in [gone, UserId::from_u128(7)] {
        let refused = propose(subject, &acme, mina, nobody).await;
        assert!(
            matches!(refused, Err(IdentityError::UnknownUser(_))),
            "{refused:?}"
        );
    }
    let same = propose(subject, &acme, mina, mina).await;
    assert!(matches!(same, Err(IdentityError::NoChange)), "{same:?}");
    assert_eq!(questions(subject, &acme).await, []);
}

/// Oldest first, by state, each once; an address raises its questions in the same queue.
pub async fn reviews_are_listed_page_by_page(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let other = seen(subject, &acme, &teams("T2", MAIL)).await.user_id;
    let mut expected = vec![(ReviewReason::SameKind, mina, other)];
    for name in ["a", "b", "c"] {
        subject.clock().advance(Duration::from_secs(1));
        let new = person(subject, &acme, name, 0).await;
        propose(subject, &acme, mina, new).await.expect("asked");
        expected.push((ReviewReason::Proposal, mina, new));
    }
    assert_eq!(questions(subject, &acme).await, expected);
    let all = reviews(subject, &acme).await;
    let mut paged = Vec::new();
    let mut query = ReviewQuery {
        limit: 3,
        ..ALL_REVIEWS
    };
    loop {
        let page = subject
            .identity()
            .reviews(&acme, &query)
            .await
            .expect("reads");
        let Some(last) = page.last() else { break };
        query.after = Some(last.id);
        paged.extend(page);
    }
    assert_eq!(paged, all);
    decide(subject, &acme, all[0].id, Verdict::Decline)
        .await
        .expect("decided");
    let open = ReviewQuery {
        state: Some(ReviewState::Open),
        ..ALL_REVIEWS
    };
    let open = subject
        .identity()
        .reviews(&acme, &open)
        .await
        .expect("reads");
    assert_eq!(open, all[1..]);
}
