//! Cases of taking a merge back (D-16, failures.md 23).

use throughline_conversation_memory::{AuditDetail, UndoMerge};
use throughline_domain::{MergeId, TenantId};
use throughline_platform_identity::{IdentityError, Undone};

use super::Subject;
use super::sample::{
    assert_counted, custom, merge, merges, operator, person, say, seen, snapshot, tenant, trail,
    words,
};

async fn undo(
    subject: &dyn Subject,
    tenant: &TenantId,
    merge: MergeId,
) -> Result<Undone, IdentityError> {
    subject
        .identity()
        .undo_merge(tenant, merge, &operator())
        .await
}

/// Both people read as before, to the last byte.
pub async fn an_undone_merge_gives_everything_back(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 3).await;
    let other = person(subject, &acme, "other", 4).await;
    let before = (
        snapshot(subject, &acme, mina).await,
        snapshot(subject, &acme, other).await,
    );
    let merged = merge(subject, &acme, mina, other).await.expect("merged");
    let undone = undo(subject, &acme, merged.merge_id).await.expect("undone");
    let expected = Undone {
        merge_id: merged.merge_id,
        primary_user_id: mina,
        secondary_user_id: other,
        restored_identities: 1,
        restored_turns: 4,
    };
    assert_eq!(undone, expected);
    let after = (
        snapshot(subject, &acme, mina).await,
        snapshot(subject, &acme, other).await,
    );
    assert_eq!(after, before);
}

/// What came while they were one goes by the account it came through.
pub async fn turns_that_came_in_between_go_to_their_account(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let merged = merge(subject, &acme, mina, other).await.expect("merged");
    for (name, key) in [("mina", "m"), ("other", "o")] {
        let account = seen(subject, &acme, &custom(name)).await.account_id;
        say(subject, &acme, account, key).await.expect("stored");
    }
    assert_eq!(words(subject, &acme, mina).await.len(), 4);
    let undone = undo(subject, &acme, merged.merge_id).await.expect("undone");
    assert_eq!(undone.restored_turns, 2);
    assert_eq!(words(subject, &acme, mina).await, ["mina-0 says", "m says"]);
    assert_eq!(
        words(subject, &acme, other).await,
        ["other-0 says", "o says"]
    );
    for user in [mina, other] {
        assert_counted(subject, &acme, user).await;
    }
}

/// A into B, B into C; whichever is undone first, the other one stands.
pub async fn a_chain_can_be_undone_in_any_order(subject: &dyn Subject) {
    for (name, inner_first) in [("inner", true), ("outer", false)] {
        let acme = tenant(subject, name).await;
        let a = person(subject, &acme, "a", 1).await;
        let b = person(subject, &acme, "b", 2).await;
        let c = person(subject, &acme, "c", 3).await;
        let mut alone = Vec::new();
        for id in [a, b, c] {
            alone.push((id, snapshot(subject, &acme, id).await));
        }
        let inner = merge(subject, &acme, b, a).await.expect("merged").merge_id;
        let outer = merge(subject, &acme, c, b).await.expect("merged").merge_id;
        let (first, last) = if inner_first {
            (inner, outer)
        } else {
            (outer, inner)
        };
        undo(subject, &acme, first).await.expect("undone");
        let mut left = Vec::new();
        for id in [a, b, c] {
            left.push(words(subject, &acme, id).await.len());
        }
        // Without A into B: {a}, {b, c}. Without B into C: {a, b}, {c}.
        assert_eq!(
            left,
            if inner_first { [1, 5, 5] } else { [3, 3, 3] },
            "{name}"
        );
        for id in [a, b, c] {
            assert_counted(subject, &acme, id).await;
        }
        undo(subject, &acme, last).await.expect("undone");
        for (id, before) in alone {
            assert_eq!(snapshot(subject, &acme, id).await, before, "{name}");
        }
    }
}

/// A second undo is told, an unknown one too, and neither changes anything.
pub async fn a_merge_is_undone_once(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let id = merge(subject, &acme, mina, other)
        .await
        .expect("merged")
        .merge_id;
    undo(subject, &acme, id).await.expect("undone");
    let before = (
        snapshot(subject, &acme, mina).await,
        trail(subject, &acme).await,
    );
    let again = undo(subject, &acme, id).await;
    assert!(
        matches!(again, Err(IdentityError::AlreadyUndone(merge)) if merge == id),
        "{again:?}"
    );
    let never = undo(subject, &acme, MergeId::from_u128(7)).await;
    assert!(
        matches!(never, Err(IdentityError::UnknownMerge(_))),
        "{never:?}"
    );
    assert_eq!(
        (
            snapshot(subject, &acme, mina).await,
            trail(subject, &acme).await
        ),
        before
    );
}

/// Undone and merged the other way round.
pub async fn people_that_were_parted_can_be_merged_again(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let id = merge(subject, &acme, mina, other)
        .await
        .expect("merged")
        .merge_id;
    undo(subject, &acme, id).await.expect("undone");
    let again = merge(subject, &acme, other, mina).await.expect("merged");
    assert_eq!((again.user_id, again.moved_turns), (other, 1));
    let known = merges(subject, &acme, mina).await;
    let undone: Vec<_> = known
        .iter()
        .map(|merge| merge.undone_at.is_some())
        .collect();
    assert_eq!(undone.iter().filter(|undone| **undone).count(), 1);
    assert_eq!(undone.len(), 2);
    assert_counted(subject, &acme, other).await;
}

/// Who took it back stands in the trail.
pub async fn undoing_is_audited(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mina = person(subject, &acme, "mina", 1).await;
    let other = person(subject, &acme, "other", 1).await;
    let id = merge(subject, &acme, mina, other)
        .await
        .expect("merged")
        .merge_id;
    undo(subject, &acme, id).await.expect("undone");
    let details = trail(subject, &acme).await;
    let expected = AuditDetail::UndoMerge(UndoMerge {
        primary_user_id: Some(mina),
        secondary_user_id: Some(other),
        restored_identities: 1,
    });
    assert_eq!(
        details.iter().filter(|detail| **detail == expected).count(),
        1
    );
    assert_eq!(details.len(), 2);
}
