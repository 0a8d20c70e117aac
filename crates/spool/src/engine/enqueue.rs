//! Taking entries in: one transaction for a group of them.

use redb::ReadableTable;

use super::{Changed, Engine, State, Tables};
use crate::head::{Fixed, Head};
use crate::index::Slot;
use crate::seal::Digest;
use crate::{Lane, NewEntry, Overflow, Queued, SpoolError, content};

impl Engine {
    /// Takes a group in. Each gets its own answer; they are all on disk when this returns. The outer
    /// error is the file's and holds for all of them.
    pub(crate) fn enqueue(
        &mut self,
        group: &[&NewEntry],
    ) -> Result<Vec<Result<Queued, SpoolError>>, SpoolError> {
        self.change(|tables, state| {
            let first = state.next_seq;
            let dropped = state.dropped;
            let mut answers = Vec::with_capacity(group.len());
            for entry in group {
                let answer = tables.enqueue(state, entry);
                if let Err(SpoolError::Storage(fault)) = answer {
                    return Err(SpoolError::Storage(fault));
                }
                answers.push(answer);
            }
            let changes = (state.next_seq - first) + (state.dropped - dropped);
            Ok((answers, Changed::if_any(changes)))
        })
    }
}

impl Tables<'_> {
    fn enqueue(&mut self, state: &mut State, entry: &NewEntry) -> Result<Queued, SpoolError> {
        let key = state.sealer.digest("key", entry.key.as_bytes());
        let digest = match &entry.digest {
            Some(digest) => state.sealer.digest("digest", digest),
            None => state.sealer.digest("payload", &entry.payload),
        };
        if let Some(there) = self.find(state, entry, &key, &digest)? {
            return Ok(there);
        }
        self.make_room(state, entry)?;
        let fixed = Self::fixed(state, entry, key, digest);
        let plain = content::encode(&entry.key, entry.order.as_deref(), &entry.payload);
        let sealed = state.sealer.seal(&fixed.encode(), plain);
        self.contents.insert(fixed.seq, sealed.as_slice())?;
        self.keys.insert((entry.tenant.as_str(), &key), fixed.seq)?;
        self.put_head(&state.sealer, &Head::new(fixed.clone()))?;
        state.index.insert(
            fixed.seq,
            Slot {
                tenant: fixed.tenant,
                lane: fixed.lane,
                charge: fixed.charge,
                enqueued_at: fixed.enqueued_at,
                aside: false,
            },
        );
        Ok(Queued::New(crate::EntryId(fixed.seq)))
    }

    /// The entry that this key stands for, if it is still here.
    fn find(
        &self,
        state: &State,
        entry: &NewEntry,
        key: &Digest,
        digest: &Digest,
    ) -> Result<Option<Queued>, SpoolError> {
        let Some(seq) = self
            .keys
            .get((entry.tenant.as_str(), key))?
            .map(|guard| guard.value())
        else {
            return Ok(None);
        };
        let Some(slot) = state.index.get(seq) else {
            return Ok(None);
        };
        let Some(head) = self.head(&state.sealer, seq, slot.aside)? else {
            return Ok(None);
        };
        let id = crate::EntryId(seq);
        if head.fixed.content != *digest {
            return Err(SpoolError::KeyConflict(id));
        }
        Ok(Some(if slot.aside {
            Queued::SetAside(id)
        } else {
            Queued::Again(id)
        }))
    }

    fn make_room(&mut self, state: &mut State, entry: &NewEntry) -> Result<(), SpoolError> {
        let charge = entry.charge();
        let limit = state.config.max_bytes.min(state.config.per_tenant_bytes);
        if charge > limit {
            return Err(SpoolError::TooLarge {
                bytes: charge,
                limit,
            });
        }
        let now = state.clock.now();
        while let Err(shortage) = state.index.room(&entry.tenant, charge, &state.config) {
            // Nothing is dropped for an entry that then does not fit after all.
            let may_drop = state.config.overflow == Overflow::DropOldest
                && state
                    .index
                    .room_after_drops(&entry.tenant, charge, &state.config, now);
            let victim = state.index.victim(&entry.tenant, shortage, now);
            let Some(victim) = victim.filter(|_| may_drop) else {
                return Err(SpoolError::Full {
                    whose: shortage.whose,
                    used: shortage.used,
                    limit: shortage.limit,
                });
            };
            self.remove(state, victim)?;
            state.dropped += 1;
        }
        Ok(())
    }

    fn fixed(state: &mut State, entry: &NewEntry, key: Digest, content: Digest) -> Fixed {
        let seq = state.next_seq;
        state.next_seq += 1;
        Fixed {
            seq,
            tenant: entry.tenant.clone(),
            user: entry.user,
            lane: lane(state, entry, seq),
            key,
            content,
            enqueued_at: state.clock.now(),
            charge: entry.charge(),
        }
    }
}

/// A lane is 64 bits of a keyed hash. Two order keys that meet in one lane wait for each other, which
/// costs time and breaks nothing. An entry without an order key has a lane to itself.
fn lane(state: &State, entry: &NewEntry, seq: u64) -> Lane {
    let digest = match &entry.order {
        Some(order) => state.sealer.digest("order", order.as_bytes()),
        None => state.sealer.digest("alone", &seq.to_le_bytes()),
    };
    Lane(u64::from_le_bytes(
        *digest.first_chunk().expect("a digest has 32 bytes"),
    ))
}
