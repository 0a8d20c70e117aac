//! Cases of making two people one (T-50 … T-54, D-16).

use throughline_conversation_memory::AuditQuery;
use throughline_conversation_memory::{AppendOutcome, AuditDetail, MergeIdentities};
use throughline_domain::UserId;
use throughline_platform_identity::{IdentityError, MergeSource};

use super::Subject;
use super::sample::{
    assert_counted, custom, erase, merge, merges, operator, person, say, seen, snapshot, tenant,
    trail, usage, words,
};
use crate::Mode;

/// failures.md 23, T-54: every old id keeps answering, with the survivor.
pub async fn a_merged_person_answers_by_every_id(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 2).await;
    let other = person(subject, &acme, "other", 3).await;
    let merged = merge(subject, &acme, mina, other).await.expect("merged");
    assert_eq!(
        (merged.user_id, merged.merged_identities, merged.moved_turns),
        (mina, 1, 3)
    );
    assert_eq!(
        snapshot(subject, &acme, mina).await,
        snapshot(subject, &acme, other).await
    );
    let user = subject
        .identity()
        .user(&acme, other)
        .await
        .expect("reads")
        .expect("known");
    assert_eq!((user.user_id, user.merged_user_ids), (mina, vec![other]));
    assert_eq!(user.identities.len(), 2);
    for name in ["mina", "other"] {
        let found = subject.identity().lookup(&acme, &custom(name).id).await;
        assert_eq!(found.expect("reads"), Some(mina));
    }
    let known = merges(subject, &acme, other).await;
    let parts = (
        known[0].primary_user_id,
        known[0].secondary_user_id,
        known[0].source,
    );
    assert_eq!(parts, (mina, other, MergeSource::Manual));
}

/// T-51, T-52: history and counters move along.
pub async fn a_merge_moves_turns_and_counters(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 2).await;
    let other = person(subject, &acme, "other", 3).await;
    let (before, theirs) = (
        usage(subject, &acme, mina).await,
        usage(subject, &acme, other).await,
    );
    merge(subject, &acme, mina, other).await.expect("merged");
    let after = usage(subject, &acme, mina).await;
    assert_eq!(after.turn_count, 5);
    assert_eq!(after.byte_count, before.byte_count + theirs.byte_count);
    assert_counted(subject, &acme, mina).await;
    let said = words(subject, &acme, mina).await;
    assert_eq!(
        said,
        ["mina-0", "mina-1", "other-0", "other-1", "other-2"].map(|k| format!("{k} says"))
    );
}

/// T-54: a stale id in a client's cache does no harm, and the answer heals it.
pub async fn a_turn_is_stored_for_the_survivor_whichever_id_sends_it(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 0).await;
    let other = person(subject, &acme, "other", 0).await;
    merge(subject, &acme, mina, other).await.expect("merged");
    for (user, key) in [(mina, "one"), (other, "two")] {
        let stored = say(subject, &acme, user, key).await.expect("stored");
        assert_eq!(stored.user_id, mina);
    }
    let again = seen(subject, &acme, &custom("other")).await;
    assert_eq!(
        (again.user_id, again.account_id, again.is_new),
        (mina, other, false)
    );
    assert_eq!(words(subject, &acme, other).await, ["one says", "two says"]);
    assert_counted(subject, &acme, mina).await;
}

/// failures.md 1: the person behind the key decides, not the id.
pub async fn a_retry_across_a_merge_is_a_duplicate(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 0).await;
    let other = person(subject, &acme, "other", 0).await;
    let first = say(subject, &acme, other, "key").await.expect("stored");
    let merged = merge(subject, &acme, mina, other).await.expect("merged");
    for user in [other, mina] {
        let again = say(subject, &acme, user, "key").await.expect("found");
        assert_eq!(
            (again.outcome, again.turn_id),
            (AppendOutcome::Duplicate, first.turn_id)
        );
        assert_eq!(again.user_id, mina);
    }
    subject
        .identity()
        .undo_merge(&acme, merged.merge_id, &operator())
        .await
        .expect("undone");
    let again = say(subject, &acme, other, "key").await.expect("found");
    assert_eq!(
        (again.outcome, again.user_id),
        (AppendOutcome::Duplicate, other)
    );
    assert!(
        say(subject, &acme, mina, "key").await.is_err(),
        "somebody else's key"
    );
}

/// T-50: the same person twice is told, and nothing is written.
pub async fn merging_what_is_one_already_changes_nothing(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    merge(subject, &acme, mina, other).await.expect("merged");
    let before = (
        snapshot(subject, &acme, mina).await,
        trail(subject, &acme).await,
    );
    for (one, two) in [(mina, mina), (mina, other), (other, mina), (other, other)] {
        let refused = merge(subject, &acme, one, two).await;
        assert!(
            matches!(refused, Err(IdentityError::NoChange)),
            "{refused:?}"
        );
    }
    assert_eq!(
        (
            snapshot(subject, &acme, mina).await,
            trail(subject, &acme).await
        ),
        before
    );
}

/// T-50: somebody who never was or is forgotten is nobody to merge.
pub async fn merging_nobody_is_refused(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let gone = person(subject, &acme, "gone", 1).await;
    erase(subject, &acme, gone, Mode::Erase)
        .await
        .expect("erased");
    for nobody in [UserId::from_u128(7), gone] {
        for (one, two) in [(mina, nobody), (nobody, mina)] {
            let refused = merge(subject, &acme, one, two).await;
            assert!(
                matches!(&refused, Err(IdentityError::UnknownUser(id)) if *id == nobody),
                "{refused:?}"
            );
        }
    }
}

/// T-50: A into B, B into C, and then D into A: all are C, each id in one hop.
pub async fn a_chain_of_merges_ends_at_one_survivor(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "d"] {
        ids.push(person(subject, &acme, name, 1).await);
    }
    let [a, b, c, d] = ids[..] else {
        panic!("four people")
    };
    let mut merged = vec![a, b, d];
    merged.sort_unstable();
    merge(subject, &acme, b, a).await.expect("merged");
    merge(subject, &acme, c, b).await.expect("merged");
    let last = merge(subject, &acme, a, d).await.expect("merged");
    assert_eq!(last.user_id, c, "an alias stands for its survivor");
    for id in ids {
        let user = subject
            .identity()
            .user(&acme, id)
            .await
            .expect("reads")
            .expect("known");
        assert_eq!((user.user_id, user.merged_user_ids), (c, merged.clone()));
        assert_eq!(words(subject, &acme, id).await.len(), 4);
    }
    assert_counted(subject, &acme, c).await;
}

/// failures.md 12.
pub async fn a_merge_touches_nobody_else(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    let mina = person(subject, &acme, "mina", 2).await;
    let other = person(subject, &acme, "other", 2).await;
    let noor = person(subject, &acme, "noor", 2).await;
    let twin = person(subject, &corp, "mina", 2).await;
    let before = (
        snapshot(subject, &acme, noor).await,
        snapshot(subject, &corp, twin).await,
    );
    merge(subject, &acme, mina, other).await.expect("merged");
    let after = (
        snapshot(subject, &acme, noor).await,
        snapshot(subject, &corp, twin).await,
    );
    assert_eq!(after, before);
}

///
pub async fn a_merge_is_audited(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    merge(subject, &acme, mina, other).await.expect("merged");
    let events = subject
        .audit()
        .events(&acme, &AuditQuery::latest(10))
        .await
        .expect("reads");
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!(
        (&event.actor, event.user_id, event.target_id),
        (&operator(), Some(mina), Some(other))
    );
    let detail = AuditDetail::MergeIdentities(MergeIdentities {
        primary_user_id: Some(mina),
        secondary_user_id: Some(other),
        merged_identities: 1,
        source: "manual".to_owned(),
    });
    assert_eq!(event.detail, detail);
}

/// failures.md 9.
pub async fn a_tenant_merges_its_own_people_only(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let foreign = person(subject, &corp, "noor", 1).await;
    let refused = merge(subject, &acme, mina, foreign).await;
    assert!(matches!(refused, Err(IdentityError::UnknownUser(id)) if id == foreign));
    let nowhere = throughline_domain::TenantId::parse("nowhere").expect("a plain name");
    let refused = merge(subject, &nowhere, mina, foreign).await;
    assert!(
        matches!(refused, Err(IdentityError::UnknownTenant(_))),
        "{refused:?}"
    );
}
