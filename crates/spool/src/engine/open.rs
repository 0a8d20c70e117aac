//! Opening the file and building the index from it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use redb::{Builder, Database, DatabaseError, ReadableTable, StorageError, WriteTransaction};
use throughline_domain::{Clock, Ids};

use super::{Changed, Engine, State, Tables};
use crate::head::{FORMAT, Head};
use crate::index::{Index, Slot};
use crate::seal::Sealer;
use crate::tables::{CORRUPT, DROPPED, FORMAT_LABEL, KEY_LABEL, LABELS, NEXT_SEQ};
use crate::{OpenError, SpoolConfig, SpoolError, StorageFault};

/// Pages of the file kept in memory. The file is written once and read once, so more would not help.
const CACHE_BYTES: usize = 16 << 20;

/// How the file is reached. Crash tests put another storage beneath it.
pub(crate) type OpenFile = Box<dyn Fn(&mut Builder) -> Result<Database, DatabaseError> + Send>;

/// All it takes to open the file, for the first time or again after a failure.
pub(crate) struct Opening {
    pub(crate) path: PathBuf,
    pub(crate) open_file: OpenFile,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) config: Arc<SpoolConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
}

impl Opening {
    pub(crate) fn open(&self) -> Result<Engine, OpenError> {
        let db = self.open_database()?;
        self.check_labels(&db)?;
        let state = State {
            index: Index::default(),
            sealer: Arc::clone(&self.sealer),
            config: Arc::clone(&self.config),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            next_seq: 1,
            dropped: 0,
            corrupt: 0,
            commits: 0,
        };
        let mut engine = Engine { db, state };
        engine.change(load).map_err(|error| self.storage(error))?;
        Ok(engine)
    }

    /// Every page's checksum is verified, so that a file somebody altered is refused here and cannot
    /// surprise a later call. What the library takes for impossible it answers with a panic.
    fn open_database(&self) -> Result<Database, OpenError> {
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let mut builder = Builder::new();
            builder
                .set_cache_size(CACHE_BYTES)
                .set_check_integrity_on_open(true);
            (self.open_file)(&mut builder)
        }));
        let damaged = |fault| OpenError::Damaged {
            path: self.path.clone(),
            source: fault,
        };
        match opened {
            Ok(Ok(db)) => Ok(db),
            Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => Err(OpenError::InUse(self.path.clone())),
            Ok(Err(error @ DatabaseError::Storage(StorageError::Corrupted(_)))) => {
                Err(damaged(StorageFault::new(error)))
            }
            Ok(Err(DatabaseError::Storage(StorageError::Io(error)))) if tells_of_damage(&error) => {
                Err(damaged(StorageFault::new(error)))
            }
            Ok(Err(error)) => Err(self.storage(error)),
            Err(_) => Err(damaged(StorageFault::new(
                "its pages contradict each other",
            ))),
        }
    }

    fn check_labels(&self, db: &Database) -> Result<(), OpenError> {
        let storage = |error: SpoolError| self.storage(error);
        let transaction = db
            .begin_write()
            .map_err(SpoolError::from)
            .map_err(storage)?;
        let format = label(&transaction, FORMAT_LABEL).map_err(storage)?;
        let sealed_with = label(&transaction, KEY_LABEL).map_err(storage)?;
        let given = self.sealer.key_id();
        match (format, sealed_with) {
            (Some(format), _) if format != FORMAT.to_string() => {
                Err(OpenError::UnknownFormat(format.parse().unwrap_or(u8::MAX)))
            }
            (Some(_), Some(sealed_with)) if sealed_with != given => Err(OpenError::WrongKey {
                sealed_with,
                given: given.to_owned(),
            }),
            (Some(_), Some(_)) => Ok(()),
            _ => write_labels(transaction, given).map_err(storage),
        }
    }

    fn storage(&self, error: impl std::error::Error + Send + Sync + 'static) -> OpenError {
        OpenError::Storage {
            path: self.path.clone(),
            source: StorageFault::new(error),
        }
    }
}

fn tells_of_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, UnexpectedEof};
    matches!(error.kind(), InvalidData | UnexpectedEof)
}

fn label(transaction: &WriteTransaction, name: &str) -> Result<Option<String>, SpoolError> {
    let labels = transaction.open_table(LABELS)?;
    let value = labels.get(name)?.map(|guard| guard.value().to_owned());
    Ok(value)
}

fn write_labels(transaction: WriteTransaction, key_id: &str) -> Result<(), SpoolError> {
    {
        let mut labels = transaction.open_table(LABELS)?;
        labels.insert(FORMAT_LABEL, FORMAT.to_string().as_str())?;
        labels.insert(KEY_LABEL, key_id)?;
    }
    Ok(transaction.commit()?)
}

fn load(tables: &mut Tables<'_>, state: &mut State) -> Result<((), Changed), SpoolError> {
    state.next_seq = tables.number(NEXT_SEQ)?.max(1);
    state.dropped = tables.number(DROPPED)?;
    state.corrupt = tables.number(CORRUPT)?;
    for row in tables.unreadable.iter()? {
        let bytes = tables.unreadable_bytes(row?.0.value())?;
        state.index.add_unreadable(bytes);
    }
    let mut damaged = Vec::new();
    for table in [&tables.pending, &tables.aside] {
        for row in table.iter()? {
            let (seq, bytes) = row?;
            match Head::decode(&state.sealer, seq.value(), bytes.value()) {
                Ok(head) => index(state, head),
                Err(_) => damaged.push((seq.value(), bytes.value().to_vec())),
            }
        }
    }
    for (seq, raw) in &damaged {
        tables.set_unreadable(state, *seq, raw)?;
    }
    // The first change of a new file makes its tables.
    let new = state.next_seq == 1;
    Ok(((), Changed::if_any(damaged.len() as u64 + u64::from(new))))
}

fn index(state: &mut State, head: Head) {
    let seq = head.fixed.seq;
    let aside = head.aside.is_some();
    state.index.insert(
        seq,
        Slot {
            tenant: head.fixed.tenant,
            lane: head.fixed.lane,
            charge: head.fixed.charge,
            enqueued_at: head.fixed.enqueued_at,
            aside,
        },
    );
    if !aside && head.next_attempt_at > head.fixed.enqueued_at {
        state.index.back_off(seq, head.next_attempt_at);
    }
}
