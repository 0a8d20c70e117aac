//! Cases of forgetting a person.

use throughline_conversation_memory::AuditQuery;
use throughline_conversation_memory::{AuditDetail, ForgetUser};
use throughline_domain::{TenantId, UserId};
use throughline_platform_identity::IdentityError;

use super::Subject;
use super::sample::{
    MAIL, custom, erase, is_gone, joining, merge, merges, operator, person, say, seen, slack,
    snapshot, teams, tenant, trail, turns, usage, words,
};
use crate::{Counts, ErasureError, Mode, Outcome};

async fn epoch(subject: &dyn Subject, tenant: &TenantId) -> u64 {
    let tenant = subject.tenancy().tenant(tenant).await.expect("reads");
    tenant.expect("a known tenant").erasure_epoch
}

/// T-53, T-65: whichever id is given, the whole person goes, each row counted once.
pub async fn either_id_erases_the_person(subject: &dyn Subject) {
    for (name, by_alias) in [("by-survivor", false), ("by-alias", true)] {
        let acme = tenant(subject, name).await;
        let mina = person(subject, &acme, "mina", 2).await;
        let other = person(subject, &acme, "other", 3).await;
        let bytes = usage(subject, &acme, mina).await.byte_count
            + usage(subject, &acme, other).await.byte_count;
        merge(subject, &acme, mina, other).await.expect("merged");
        let asked = if by_alias { other } else { mina };
        let receipt = erase(subject, &acme, asked, Mode::Erase)
            .await
            .expect("erased");
        let mut ids = vec![mina, other];
        ids.sort_unstable();
        assert_eq!((receipt.outcome, receipt.user_ids), (Outcome::Erased, ids));
        let expected = Counts {
            deleted_turns: 5,
            deleted_bytes: bytes,
            tombstoned_keys: 5,
            tombstoned_refs: 2,
            deleted_identities: 2,
            deleted_merges: 1,
            nullified_audit_rows: 1,
            barred_user_ids: 2,
            ..Counts::default()
        };
        assert_eq!(receipt.counts, expected);
        for id in [mina, other] {
            assert_eq!(
                subject.identity().user(&acme, id).await.expect("reads"),
                None
            );
            assert_eq!(turns(subject, &acme, id).await, []);
            assert_eq!(usage(subject, &acme, id).await.turn_count, 0);
        }
        for name in ["mina", "other"] {
            let found = subject.identity().lookup(&acme, &custom(name).id).await;
            assert_eq!(found.expect("reads"), None);
        }
    }
}

/// The rehearsal is the real run but for the last step.
pub async fn a_rehearsal_counts_what_erasure_does_and_changes_nothing(subject: &dyn Subject) {
    let acme = joining(subject, "acme").await;
    let mina = seen(subject, &acme, &teams("T1", MAIL)).await.user_id;
    let same = seen(subject, &acme, &slack("S1", MAIL)).await.account_id;
    seen(subject, &acme, &teams("T2", MAIL)).await;
    say(subject, &acme, mina, "one").await.expect("stored");
    say(subject, &acme, same, "two").await.expect("stored");
    let before = (
        snapshot(subject, &acme, mina).await,
        trail(subject, &acme).await,
    );
    let rehearsed = erase(subject, &acme, mina, Mode::Rehearse)
        .await
        .expect("counted");
    assert_eq!(
        (
            snapshot(subject, &acme, mina).await,
            trail(subject, &acme).await
        ),
        before
    );
    assert_eq!(epoch(subject, &acme).await, 0);
    let erased = erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    assert_eq!(rehearsed.counts, erased.counts);
    assert_eq!(
        (rehearsed.outcome, rehearsed.user_ids),
        (erased.outcome, erased.user_ids)
    );
    assert!(erased.counts.deleted_claims == 1 && erased.counts.deleted_reviews == 1);
}

/// T-62.
pub async fn a_second_erasure_finds_nothing_left(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    let before = trail(subject, &acme).await;
    for mode in [Mode::Erase, Mode::Rehearse] {
        let again = erase(subject, &acme, mina, mode).await.expect("answers");
        assert_eq!(
            (again.outcome, again.counts),
            (Outcome::NothingLeft, Counts::default())
        );
    }
    assert_eq!(trail(subject, &acme).await, before);
    assert_eq!(epoch(subject, &acme).await, 1);
}

/// Somebody who never was is not somebody who is gone.
pub async fn erasing_an_unknown_user_is_refused(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    let foreign = person(subject, &corp, "mina", 1).await;
    for nobody in [UserId::from_u128(7), foreign] {
        let refused = erase(subject, &acme, nobody, Mode::Erase).await;
        assert!(matches!(refused, Err(ErasureError::UnknownUser(id)) if id == nobody));
    }
    let nowhere = TenantId::parse("nowhere").expect("a plain name");
    let refused = erase(subject, &nowhere, foreign, Mode::Erase).await;
    assert!(
        matches!(refused, Err(ErasureError::UnknownTenant(_))),
        "{refused:?}"
    );
    assert_eq!(words(subject, &corp, foreign).await.len(), 1);
    assert_eq!(epoch(subject, &acme).await, 0);
}

/// failures.md 15: no late write under any id of theirs, and no late retry by anybody (T-57).
pub async fn an_erased_person_can_not_be_written_to(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let noor = person(subject, &acme, "noor", 0).await;
    merge(subject, &acme, mina, other).await.expect("merged");
    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    for (user, key) in [
        (mina, "new"),
        (other, "new"),
        (mina, "mina-0"),
        (noor, "mina-0"),
    ] {
        let answer = say(subject, &acme, user, key).await;
        assert!(is_gone(&answer), "{key}: {answer:?}");
    }
    assert_eq!(words(subject, &acme, noor).await, [""; 0]);
    assert!(say(subject, &acme, noor, "new").await.is_ok());
}

/// Whoever writes afterwards is somebody new, without a past.
pub async fn a_fresh_message_after_erasure_makes_a_new_person(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 2).await;
    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    let again = seen(subject, &acme, &custom("mina")).await;
    assert!(again.is_new && again.user_id != mina);
    say(subject, &acme, again.account_id, "fresh")
        .await
        .expect("stored");
    assert_eq!(words(subject, &acme, again.user_id).await, ["fresh says"]);
    let late = say(subject, &acme, again.account_id, "mina-0").await;
    assert!(is_gone(&late), "{late:?}");
}

/// Clients drop their caches when it jumps.
pub async fn an_erasure_raises_the_epoch_by_one(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    for (number, name) in ["a", "b"].into_iter().enumerate() {
        let user = person(subject, &acme, name, 1).await;
        let receipt = erase(subject, &acme, user, Mode::Erase)
            .await
            .expect("erased");
        assert_eq!(receipt.erasure_epoch, number as u64 + 1);
        assert_eq!(epoch(subject, &acme).await, number as u64 + 1);
    }
    assert_eq!(epoch(subject, &corp).await, 0);
}

/// R-114, T-36, T-62: what was done stays, to whom does not.
pub async fn an_erased_person_leaves_the_audit_trail(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let noor = person(subject, &acme, "noor", 1).await;
    let parted = merge(subject, &acme, noor, other)
        .await
        .expect("merged")
        .merge_id;
    subject
        .identity()
        .undo_merge(&acme, parted, &operator())
        .await
        .expect("undone");
    merge(subject, &acme, mina, other).await.expect("merged");
    let receipt = erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    assert_eq!(receipt.counts.nullified_audit_rows, 3);
    let events = subject
        .audit()
        .events(&acme, &AuditQuery::latest(10))
        .await
        .expect("reads");
    assert_eq!(events.len(), 4);
    let ids = [mina, other].map(|id| id.to_string());
    for event in &events {
        let text = format!("{event:?}{}", event.detail.to_json());
        assert!(!ids.iter().any(|id| text.contains(id)), "{text}");
    }
    let left = events
        .iter()
        .filter(|event| event.user_id == Some(noor))
        .count();
    assert_eq!(left, 2, "the other person of a merge stays named");
    let expected = AuditDetail::ForgetUser(ForgetUser {
        deleted_turns: 2,
        deleted_identities: 2,
        deleted_audit_rows: 0,
        nullified_audit_rows: 3,
    });
    let entry = events
        .iter()
        .find(|event| event.detail == expected)
        .expect("an entry of its own");
    assert_eq!(
        (&entry.actor, entry.user_id, entry.target_id),
        (&operator(), None, None)
    );
}

/// What merged them is gone with them.
pub async fn a_merge_of_an_erased_person_can_not_be_undone(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let id = merge(subject, &acme, mina, other)
        .await
        .expect("merged")
        .merge_id;
    erase(subject, &acme, other, Mode::Erase)
        .await
        .expect("erased");
    let refused = subject.identity().undo_merge(&acme, id, &operator()).await;
    assert!(
        matches!(refused, Err(IdentityError::UnknownMerge(_))),
        "{refused:?}"
    );
}

/// failures.md 12.
pub async fn an_erasure_touches_nobody_else(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let corp = tenant(subject, "acme-corp").await;
    let mina = person(subject, &acme, "mina", 2).await;
    let noor = person(subject, &acme, "noor", 2).await;
    let friend = person(subject, &acme, "friend", 2).await;
    merge(subject, &acme, noor, friend).await.expect("merged");
    let twin = person(subject, &corp, "mina", 2).await;
    let before = (
        snapshot(subject, &acme, noor).await,
        snapshot(subject, &corp, twin).await,
        merges(subject, &acme, friend).await,
    );
    erase(subject, &acme, mina, Mode::Erase)
        .await
        .expect("erased");
    let after = (
        snapshot(subject, &acme, noor).await,
        snapshot(subject, &corp, twin).await,
        merges(subject, &acme, friend).await,
    );
    assert_eq!(after, before);
}
