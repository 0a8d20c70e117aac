//! Cases of what was decided about an account while it was merged away, once it is parted again: a
//! link, a question and its answer stay with the account, never with the survivor of that moment.

use std::time::Duration;

use throughline_domain::{MergeId, TenantId, UserId};
use throughline_platform_identity::{DecisionReason, ReviewReason, Verdict};

use super::Subject;
use super::sample::{
    MAIL, assert_counted, erase, joining, merge, operator, person, questions, reviews, say, seen,
    slack, teams, tenant, words,
};
use crate::Mode;

async fn undo(subject: &dyn Subject, tenant: &TenantId, merge: MergeId) {
    let identity = subject.identity();
    let undone = identity.undo_merge(tenant, merge, &operator()).await;
    undone.expect("undone");
}

async fn accept(subject: &dyn Subject, tenant: &TenantId) {
    let reason = DecisionReason::parse("seen the passport").expect("a plain reason");
    let asked = reviews(subject, tenant).await;
    let (identity, id) = (subject.identity(), asked[0].id);
    let decided = identity
        .decide_review(tenant, id, Verdict::Accept, &reason, &operator())
        .await;
    decided.expect("decided");
}

async fn root(subject: &dyn Subject, tenant: &TenantId, user: UserId) -> UserId {
    let found = subject.identity().user(tenant, user).await.expect("reads");
    found.expect("a known user").user_id
}

/// D-06, D-16: an address says that two accounts are one, and nothing of whom one of them was merged
/// into: when that merge is undone, whoever was joined by the address goes with the account that holds
/// it, turns and counters too, and the link by the address can still be taken back.
pub async fn who_was_joined_by_an_address_leaves_with_its_account(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let wrong = person(subject, &acme, "wrong", 1).await;
    let merged = merge(subject, &acme, wrong, mina).await.expect("merged");
    let joined = seen(subject, &acme, &slack("S1", MAIL)).await;
    assert_eq!((joined.user_id, joined.is_new), (wrong, false));
    say(subject, &acme, joined.account_id, "by slack")
        .await
        .expect("stored");

    undo(subject, &acme, merged.merge_id).await;
    assert_eq!(root(subject, &acme, joined.account_id).await, mina);
    assert_eq!(words(subject, &acme, mina).await, ["by slack says"]);
    assert_eq!(words(subject, &acme, wrong).await, ["wrong-0 says"]);
    for user in [mina, wrong] {
        assert_counted(subject, &acme, user).await;
    }
    let made = super::sample::merges(subject, &acme, mina).await;
    let by_address = made.iter().find(|merge| merge.undone_at.is_none());
    undo(subject, &acme, by_address.expect("stands").id).await;
    assert_eq!(
        root(subject, &acme, joined.account_id).await,
        joined.account_id
    );
    assert_eq!(
        words(subject, &acme, joined.account_id).await,
        ["by slack says"]
    );
}

/// The same when it is the address's link that goes first.
pub async fn a_link_by_an_address_is_undone_below_a_survivor(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let other = person(subject, &acme, "other", 1).await;
    merge(subject, &acme, other, mina).await.expect("merged");
    let joined = seen(subject, &acme, &slack("S1", MAIL)).await.account_id;
    say(subject, &acme, joined, "by slack")
        .await
        .expect("stored");
    let made = super::sample::merges(subject, &acme, other).await;
    let by_address = made.iter().find(|merge| merge.secondary_user_id == joined);
    undo(subject, &acme, by_address.expect("made").id).await;
    assert_eq!(root(subject, &acme, joined).await, joined);
    assert_eq!(root(subject, &acme, mina).await, other);
    assert_eq!(words(subject, &acme, joined).await, ["by slack says"]);
    assert_eq!(words(subject, &acme, other).await, ["other-0 says"]);
    for user in [joined, other] {
        assert_counted(subject, &acme, user).await;
    }
}

/// A first sight, a later sight and a key ask about accounts: accepted after a merge was undone, the
/// answer joins those who were asked about and not a survivor of the past.
pub async fn a_question_outlives_the_merge_it_was_asked_during(subject: &dyn Subject) {
    for reason in [
        ReviewReason::SameKind,
        ReviewReason::Collision,
        ReviewReason::Proposal,
    ] {
        let acme = joining(
            subject,
            &format!("acme-{}", reason.as_str().replace('_', "-")),
        )
        .await;
        let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
        let wrong = person(subject, &acme, "wrong", 1).await;
        let merged = merge(subject, &acme, wrong, mina).await.expect("merged");
        let other = ask(subject, &acme, reason, mina).await;
        assert_eq!(questions(subject, &acme).await, [(reason, mina, other)]);

        undo(subject, &acme, merged.merge_id).await;
        accept(subject, &acme).await;
        assert_eq!(root(subject, &acme, other).await, mina, "{reason:?}");
        assert_eq!(root(subject, &acme, wrong).await, wrong, "{reason:?}");
    }
}

/// Makes somebody about whom this is asked.
async fn ask(
    subject: &dyn Subject,
    tenant: &TenantId,
    reason: ReviewReason,
    mina: UserId,
) -> UserId {
    match reason {
        ReviewReason::SameKind => seen(subject, tenant, &teams("T2", MAIL)).await.account_id,
        ReviewReason::Collision => {
            seen(subject, tenant, &slack("S1", "noor@corp.example")).await;
            subject.clock().advance(Duration::from_mins(2));
            seen(subject, tenant, &slack("S1", MAIL)).await.account_id
        }
        _ => {
            let other = person(subject, tenant, "other", 0).await;
            let identity = subject.identity();
            let asked = identity
                .propose_merge(tenant, mina, other, &operator())
                .await;
            asked.expect("asked");
            other
        }
    }
}

/// T-27: what an operator wrote about an account goes with the account, whoever its survivor was then.
pub async fn a_question_is_erased_with_the_account_it_was_about(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let survivor = person(subject, &acme, "survivor", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let merged = merge(subject, &acme, survivor, mina).await.expect("merged");
    let identity = subject.identity();
    let asked = identity
        .propose_merge(&acme, mina, other, &operator())
        .await;
    let reason = DecisionReason::parse("mina is not that one").expect("a plain reason");
    let decided = identity
        .decide_review(
            &acme,
            asked.expect("asked"),
            Verdict::Decline,
            &reason,
            &operator(),
        )
        .await;
    decided.expect("decided");
    undo(subject, &acme, merged.merge_id).await;
    let receipt = erase(subject, &acme, mina, Mode::Erase).await;
    assert_eq!(receipt.expect("erased").counts.deleted_reviews, 1);
    assert_eq!(reviews(subject, &acme).await, []);
}
