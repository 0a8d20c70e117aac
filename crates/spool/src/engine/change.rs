//! The tables of one transaction, and the moves that touch several of them.

use redb::{ReadableTable, Table, WriteTransaction};

use super::{State, missing};
use crate::SpoolError;
use crate::head::{Aside, Head};
use crate::index::Slot;
use crate::seal::Sealer;
use crate::tables::{
    ASIDE, CONTENTS, CORRUPT, DROPPED, KEYS, NEXT_SEQ, NUMBERS, PENDING, UNREADABLE,
};

pub(crate) struct Tables<'t> {
    pub(super) pending: Table<'t, u64, &'static [u8]>,
    pub(super) aside: Table<'t, u64, &'static [u8]>,
    pub(super) unreadable: Table<'t, u64, &'static [u8]>,
    pub(super) contents: Table<'t, u64, &'static [u8]>,
    pub(super) keys: Table<'t, (&'static str, &'static [u8; 32]), u64>,
    pub(super) numbers: Table<'t, &'static str, u64>,
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, SpoolError> {
        Ok(Self {
            pending: transaction.open_table(PENDING)?,
            aside: transaction.open_table(ASIDE)?,
            unreadable: transaction.open_table(UNREADABLE)?,
            contents: transaction.open_table(CONTENTS)?,
            keys: transaction.open_table(KEYS)?,
            numbers: transaction.open_table(NUMBERS)?,
        })
    }

    pub(super) fn save_numbers(&mut self, state: &State) -> Result<(), SpoolError> {
        self.numbers.insert(NEXT_SEQ, state.next_seq)?;
        self.numbers.insert(DROPPED, state.dropped)?;
        self.numbers.insert(CORRUPT, state.corrupt)?;
        Ok(())
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, SpoolError> {
        Ok(self.numbers.get(name)?.map_or(0, |guard| guard.value()))
    }

    /// The head of an entry the index knows. `None`: it was readable when the file was opened and is
    /// not any more.
    pub(super) fn head(
        &self,
        sealer: &Sealer,
        seq: u64,
        aside: bool,
    ) -> Result<Option<Head>, SpoolError> {
        let (table, name) = if aside {
            (&self.aside, "aside")
        } else {
            (&self.pending, "pending")
        };
        let bytes = table.get(seq)?.ok_or_else(|| missing(name, seq))?;
        Ok(Head::decode(sealer, seq, bytes.value()).ok())
    }

    pub(super) fn put_head(&mut self, sealer: &Sealer, head: &Head) -> Result<(), SpoolError> {
        let bytes = head.encode(sealer);
        let table = if head.aside.is_some() {
            &mut self.aside
        } else {
            &mut self.pending
        };
        table.insert(head.fixed.seq, bytes.as_slice())?;
        Ok(())
    }

    /// Takes an entry out of every table and out of the index. False if there is none.
    pub(super) fn remove(&mut self, state: &mut State, seq: u64) -> Result<bool, SpoolError> {
        let Some(Slot { aside, .. }) = state.index.get(seq).cloned() else {
            return Ok(false);
        };
        if let Some(head) = self.head(&state.sealer, seq, aside)? {
            // The row may already stand for a later entry, when this one's was damaged.
            let row = (head.fixed.tenant.as_str(), &head.fixed.key);
            let ours = self
                .keys
                .get(row)?
                .is_some_and(|guard| guard.value() == seq);
            if ours {
                self.keys.remove(row)?;
            }
        }
        if aside {
            self.aside.remove(seq)?
        } else {
            self.pending.remove(seq)?
        };
        self.contents.remove(seq)?;
        state.index.remove(seq);
        Ok(true)
    }

    /// Takes an entry out of line and keeps it for the operator.
    pub(super) fn set_aside(
        &mut self,
        state: &mut State,
        mut head: Head,
        reason: &str,
    ) -> Result<(), SpoolError> {
        let seq = head.fixed.seq;
        head.aside = Some(Aside {
            at: state.clock.now(),
            reason: reason.to_owned(),
        });
        self.pending.remove(seq)?;
        self.put_head(&state.sealer, &head)?;
        state.index.move_to(seq, true);
        Ok(())
    }

    /// Keeps what is left of an entry whose head is damaged, out of every line.
    pub(super) fn set_unreadable(
        &mut self,
        state: &mut State,
        seq: u64,
        raw: &[u8],
    ) -> Result<(), SpoolError> {
        self.pending.remove(seq)?;
        self.aside.remove(seq)?;
        self.unreadable.insert(seq, raw)?;
        state.index.remove(seq);
        state.index.add_unreadable(self.unreadable_bytes(seq)?);
        state.corrupt += 1;
        Ok(())
    }

    pub(super) fn unreadable_bytes(&self, seq: u64) -> Result<u64, SpoolError> {
        let content = self
            .contents
            .get(seq)?
            .map_or(0, |guard| guard.value().len() as u64);
        Ok(content + crate::ENTRY_OVERHEAD)
    }
}
