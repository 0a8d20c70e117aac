//! Two people become one, and two again.

use throughline_conversation_memory::{AuditDetail, MergeIdentities, UndoMerge};
use throughline_domain::{Actor, Ids, MergeId, Timestamp, UserId};
use throughline_platform_identity::{IdentityError, MergeRecord, MergeSource, Merged, Undone};

use crate::people::People;
use crate::state::TenantState;

/// Who acts, when, with which ids.
#[derive(Clone, Copy)]
pub(super) struct Act<'a> {
    pub(super) actor: &'a Actor,
    pub(super) ids: &'a dyn Ids,
    pub(super) now: Timestamp,
}

pub(super) fn merge(
    state: &mut TenantState,
    primary: UserId,
    secondary: UserId,
    source: MergeSource,
    act: Act<'_>,
) -> Result<Merged, IdentityError> {
    let root = |id| state.people.root(id).ok_or(IdentityError::UnknownUser(id));
    let (into, from) = (root(primary)?, root(secondary)?);
    if into == from {
        return Err(IdentityError::NoChange);
    }
    let leavers = state.people.members(from);
    let merged_identities = state.people.identities_of(&leavers).count() as u64;
    let moved_turns = state.log.give(from, into, None);
    state.people.put_under(from, into);
    let merged = Merged {
        merge_id: MergeId::new(act.ids.ulid(act.now)),
        user_id: into,
        merged_identities,
        moved_turns,
    };
    record(state, &merged, from, source, act);
    Ok(merged)
}

/// Writes the merge and its audit entry.
pub(super) fn record(
    state: &mut TenantState,
    merged: &Merged,
    from: UserId,
    source: MergeSource,
    act: Act<'_>,
) {
    let into = merged.user_id;
    let record = MergeRecord {
        id: merged.merge_id,
        primary_user_id: into,
        secondary_user_id: from,
        source,
        actor: act.actor.clone(),
        created_at: act.now,
        undone_at: None,
    };
    state.people.merges.insert(record.id, record);
    let detail = AuditDetail::MergeIdentities(MergeIdentities {
        primary_user_id: Some(into),
        secondary_user_id: Some(from),
        merged_identities: merged.merged_identities,
        source: source.as_str().to_owned(),
    });
    let about = (Some(into), Some(from));
    state
        .trail
        .write(act.ids, act.now, act.actor, about, detail);
}

pub(super) fn undo(
    state: &mut TenantState,
    merge: MergeId,
    act: Act<'_>,
) -> Result<Undone, IdentityError> {
    let people = &mut state.people;
    let record = people.merges.get(&merge);
    let record = record.ok_or(IdentityError::UnknownMerge(merge))?;
    if record.undone_at.is_some() {
        return Err(IdentityError::AlreadyUndone(merge));
    }
    let (primary, leader) = (record.primary_user_id, record.secondary_user_id);
    let root = people.root(leader);
    let root = root.ok_or(IdentityError::UnknownMerge(merge))?;
    if let Some(record) = people.merges.get_mut(&merge) {
        record.undone_at = Some(act.now);
    }
    let leavers = followers(&state.people, leader);
    let restored_turns = state.log.give(root, leader, Some(&leavers));
    state.people.take_out(root, leader, &leavers);
    let restored_identities = state.people.identities_of(&leavers).count() as u64;
    let detail = AuditDetail::UndoMerge(UndoMerge {
        primary_user_id: Some(primary),
        secondary_user_id: Some(leader),
        restored_identities,
    });
    let about = (Some(primary), Some(leader));
    state
        .trail
        .write(act.ids, act.now, act.actor, about, detail);
    Ok(Undone {
        merge_id: merge,
        primary_user_id: root,
        secondary_user_id: leader,
        restored_identities,
        restored_turns,
    })
}

/// The leader, and all who were merged into them, or into those.
fn followers(people: &People, leader: UserId) -> Vec<UserId> {
    let mut found = vec![leader];
    let mut next = 0;
    while let Some(&into) = found.get(next) {
        let standing = people
            .merges
            .values()
            .filter(|merge| merge.undone_at.is_none());
        let theirs = standing.filter(|merge| merge.primary_user_id == into);
        found.extend(theirs.map(|merge| merge.secondary_user_id));
        next += 1;
    }
    found
}

/// Every merge that one of the person's ids had a part in, oldest first.
pub(super) fn list(people: &People, user: UserId) -> Result<Vec<MergeRecord>, IdentityError> {
    let root = people.root(user).ok_or(IdentityError::UnknownUser(user))?;
    let ids = people.members(root);
    let theirs = |merge: &&MergeRecord| {
        ids.contains(&merge.primary_user_id) || ids.contains(&merge.secondary_user_id)
    };
    Ok(people.merges.values().filter(theirs).cloned().collect())
}
