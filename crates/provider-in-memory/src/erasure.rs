//! Forgetting one person, in one step.

use async_trait::async_trait;
use throughline_conversation_memory::{AuditDetail, AuthorRef, ClientMessageId, ForgetUser};
use throughline_domain::{Actor, OutboxId, TenantId, Timestamp, UserId};
use throughline_erasure::{Counts, Erasure, ErasureError, Mode, Outcome, Receipt, TOMBSTONE_LIFE};
use throughline_platform_identity::UserStatus;

use crate::InMemoryStore;
use crate::people::{ErasedRef, Known, People};
use crate::state::TenantState;

#[async_trait]
impl Erasure for InMemoryStore {
    async fn erase(
        &self,
        tenant: &TenantId,
        user: UserId,
        actor: &Actor,
        mode: Mode,
    ) -> Result<Receipt, ErasureError> {
        self.write_tenant(tenant, |state, now| {
            let person = Person::find(state, user)?;
            let Some(person) = person else {
                return Ok(nothing_left(state, user));
            };
            if mode == Mode::Erase {
                person.erase(state, now);
                state
                    .trail
                    .write(self.ids.as_ref(), now, actor, (None, None), person.entry());
            }
            Ok(Receipt {
                outcome: Outcome::Erased,
                user_ids: person.ids,
                counts: person.counts,
                erasure_epoch: state.tenant.erasure_epoch,
            })
        })
        .unwrap_or_else(|| Err(ErasureError::UnknownTenant(tenant.clone())))
    }
}

fn nothing_left(state: &TenantState, user: UserId) -> Receipt {
    Receipt {
        outcome: Outcome::NothingLeft,
        user_ids: vec![user],
        counts: Counts::default(),
        erasure_epoch: state.tenant.erasure_epoch,
    }
}

/// Whom to erase, and what is there of them.
struct Person {
    root: UserId,
    ids: Vec<UserId>,
    keys: Vec<ClientMessageId>,
    refs: Vec<[u8; 32]>,
    waiting: Vec<OutboxId>,
    counts: Counts,
}

impl Person {
    /// `None` for one who was erased before.
    fn find(state: &TenantState, user: UserId) -> Result<Option<Self>, ErasureError> {
        let status = state.people.status(user);
        if status.ok_or(ErasureError::UnknownUser(user))? == UserStatus::Forgotten {
            return Ok(None);
        }
        let root = state.people.root(user).unwrap_or(user);
        let ids = state.people.members(root);
        let (usage, mut keys) = state.log.inventory(root);
        let known = state.people.identities_of(&ids);
        let digest = |known: &Known| known.identity.id.digest(&state.tenant.id);
        let refs: Vec<_> = known.map(digest).collect();
        let (deleted_audit_rows, nullified_audit_rows) = state.trail.inventory(&ids);
        let waiting = state
            .outbox
            .of_people(&ids, &channel_users(&state.people, &ids));
        // Whoever sent it was told that it is kept, and may repeat it (T-57).
        let unstored = |key: &ClientMessageId| !state.log.by_key.contains_key(key);
        keys.extend(state.outbox.keys_of(&waiting).filter(unstored));
        let counts = Counts {
            deleted_turns: usage.turn_count,
            deleted_bytes: usage.byte_count,
            deleted_outbox: waiting.len() as u64,
            tombstoned_keys: keys.len() as u64,
            tombstoned_refs: refs.len() as u64,
            // A clearing leaves no mark here: it empties the scope's index.
            deleted_clear_marks: 0,
            deleted_audit_rows,
            nullified_audit_rows,
            barred_user_ids: ids.len() as u64,
            ..inventory(&state.people, &ids)
        };
        Ok(Some(Self {
            root,
            ids,
            keys,
            refs,
            waiting,
            counts,
        }))
    }

    fn erase(&self, state: &mut TenantState, now: Timestamp) {
        let until = now.plus(TOMBSTONE_LIFE);
        for key in &self.keys {
            state
                .log
                .tombstones
                .insert(key.digest(&state.tenant.id), until);
        }
        let erased = ErasedRef {
            erased_at: now,
            until,
        };
        for digest in &self.refs {
            state.people.erased_refs.insert(*digest, erased);
        }
        state.log.remove(self.root);
        state.outbox.remove_all(&self.waiting);
        let People {
            claims,
            merges,
            reviews,
            ..
        } = &mut state.people;
        let theirs = |id: UserId| self.ids.contains(&id);
        claims.retain(|_, claim| !theirs(claim.account));
        merges
            .retain(|_, merge| !theirs(merge.primary_user_id) && !theirs(merge.secondary_user_id));
        reviews
            .retain(|_, asked| !theirs(asked.primary_user_id) && !theirs(asked.secondary_user_id));
        for id in &self.ids {
            state.people.bar(*id);
        }
        state.trail.scrub(&self.ids);
        state.tenant.erasure_epoch += 1;
    }

    fn entry(&self) -> AuditDetail {
        AuditDetail::ForgetUser(ForgetUser {
            deleted_turns: self.counts.deleted_turns,
            deleted_identities: self.counts.deleted_identities,
            deleted_audit_rows: self.counts.deleted_audit_rows,
            nullified_audit_rows: self.counts.nullified_audit_rows,
        })
    }
}

/// The channel users under whom something may wait that was not resolved yet.
fn channel_users(people: &People, ids: &[UserId]) -> Vec<AuthorRef> {
    people
        .identities_of(ids)
        .map(|known| known.identity.id.to_author())
        .collect()
}

/// What people's store holds of these ids.
fn inventory(people: &People, ids: &[UserId]) -> Counts {
    let theirs = |id: UserId| ids.contains(&id);
    let count = |found: usize| found as u64;
    let merges = people.merges.values();
    let reviews = people.reviews.values();
    Counts {
        deleted_identities: count(people.identities_of(ids).count()),
        deleted_claims: count(
            people
                .claims
                .values()
                .filter(|claim| theirs(claim.account))
                .count(),
        ),
        deleted_merges: count(
            merges
                .filter(|m| theirs(m.primary_user_id) || theirs(m.secondary_user_id))
                .count(),
        ),
        deleted_reviews: count(
            reviews
                .filter(|r| theirs(r.primary_user_id) || theirs(r.secondary_user_id))
                .count(),
        ),
        ..Counts::default()
    }
}
