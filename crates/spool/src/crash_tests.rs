//! Power cuts: a storage that forgets part of what was written since the last sync, as a disk does.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;
use redb::StorageBackend;
use throughline_domain::{SystemClock, SystemIds, TenantId};

use crate::engine::Opening;
use crate::seal::Sealer;
use crate::{NewEntry, Queued, Spool, SpoolConfig, SpoolError, SpoolKey};

#[derive(Debug, Default)]
struct Disk {
    /// What survives a power cut for certain.
    synced: Vec<u8>,
    /// What the process reads back.
    seen: Vec<u8>,
    /// What was written since the last sync, in order.
    unsynced: Vec<Write>,
    /// Syncs until the disk fails; none: it never does.
    fails_after: Option<u32>,
}

#[derive(Debug, Clone)]
enum Write {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

impl Write {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Length(length) => to.resize(*length, 0),
            Self::Bytes(at, bytes) => {
                let end = at + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*at..end].copy_from_slice(bytes);
            }
        }
    }
}

impl Disk {
    /// The power goes: of the unsynced writes an arbitrary part is kept, one of them torn.
    fn cut_power(&mut self, kept: &[bool], torn: prop::sample::Index) {
        let unsynced = std::mem::take(&mut self.unsynced);
        let torn_at = (!unsynced.is_empty()).then(|| torn.index(unsynced.len()));
        for (n, write) in unsynced.iter().enumerate() {
            match write {
                Write::Bytes(at, bytes) if Some(n) == torn_at => {
                    Write::Bytes(*at, bytes[..bytes.len() / 2].to_vec()).apply(&mut self.synced);
                }
                _ if kept[n % kept.len()] => write.apply(&mut self.synced),
                _ => {}
            }
        }
        self.seen = self.synced.clone();
    }
}

#[derive(Debug, Clone, Default)]
struct Backend(Arc<Mutex<Disk>>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let at = usize::try_from(offset).unwrap();
        let disk = self.0.lock();
        let bytes = disk
            .seen
            .get(at..at + out.len())
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.write_down(Write::Length(usize::try_from(len).unwrap()));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.0.lock();
        match &mut disk.fails_after {
            Some(0) => return Err(io::ErrorKind::StorageFull.into()),
            Some(left) => *left -= 1,
            None => {}
        }
        disk.unsynced.clear();
        disk.synced = disk.seen.clone();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_down(Write::Bytes(
            usize::try_from(offset).unwrap(),
            data.to_vec(),
        ));
        Ok(())
    }
}

impl Backend {
    fn write_down(&self, write: Write) {
        let mut disk = self.0.lock();
        write.apply(&mut disk.seen);
        disk.unsynced.push(write);
    }

    /// What is on the disk right now, as another disk: the old process goes on with the old one.
    fn copy(&self) -> Self {
        let disk = self.0.lock();
        let (synced, seen, unsynced) = (
            disk.synced.clone(),
            disk.seen.clone(),
            disk.unsynced.clone(),
        );
        Self(Arc::new(Mutex::new(Disk {
            synced,
            seen,
            unsynced,
            fails_after: None,
        })))
    }

    async fn open(&self) -> Spool {
        let backend = self.clone();
        let config = SpoolConfig {
            flush_interval: std::time::Duration::ZERO,
            ..SpoolConfig::default()
        };
        Spool::start(config, move |config| Opening {
            path: "spool.redb".into(),
            open_file: Box::new(move |builder| builder.create_with_backend(backend.clone())),
            sealer: Arc::new(Sealer::new(&SpoolKey::from_bytes([5; 32]))),
            config,
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        })
        .await
        .unwrap()
    }
}

fn entry(n: usize) -> NewEntry {
    NewEntry {
        tenant: TenantId::parse("acme").unwrap(),
        user: None,
        key: n.to_string(),
        order: Some("chat".to_owned()),
        digest: None,
        payload: vec![0xC3; n * 97 % 5000],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The power goes at any moment, also in the middle of a commit or an acknowledgement: what was
    /// answered with `Ok` is there, in order, and what was acknowledged is gone.
    #[test]
    fn a_power_cut_loses_nothing_that_was_answered(
        entries in 1_usize..25,
        acknowledged in 0_usize..10,
        kept in prop::collection::vec(any::<bool>(), 1..16),
        torn: prop::sample::Index,
        cut_within_commit: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let disk = Backend::default();
            let spool = disk.open().await;
            let mut ids = Vec::new();
            for n in 0..entries {
                ids.push(spool.enqueue(entry(n)).await.unwrap().id());
            }
            let gone = acknowledged.min(entries);
            spool.ack(ids[..gone].to_vec()).await.unwrap();
            let answered = entries;
            if cut_within_commit {
                // Its pages are written and its sync never comes.
                disk.0.lock().fails_after = Some(0);
                let lost = spool.enqueue(entry(answered)).await;
                assert!(matches!(lost, Err(SpoolError::Storage(_))));
            }
            let after = disk.copy();
            after.0.lock().cut_power(&kept, torn);
            let spool = after.open().await;
            let there = spool.next_batch(100).await.unwrap();
            let keys: Vec<usize> = there.iter().map(|entry| entry.key.parse().unwrap()).collect();
            let expected: Vec<usize> = (gone..answered).collect();
            assert!(keys.starts_with(&expected), "{keys:?}");
            assert!(keys.len() <= expected.len() + usize::from(cut_within_commit));
            assert_eq!(spool.stats().corrupt_total, 0);
        });
    }
}

#[tokio::test]
async fn after_a_failed_sync_the_spool_opens_its_file_anew_and_goes_on() {
    let disk = Backend::default();
    let spool = disk.open().await;
    spool.enqueue(entry(1)).await.unwrap();
    disk.0.lock().fails_after = Some(0);
    for _ in 0..3 {
        assert!(matches!(
            spool.enqueue(entry(2)).await,
            Err(SpoolError::Storage(_))
        ));
    }
    disk.0.lock().fails_after = None;
    let again = spool.enqueue(entry(1)).await.unwrap();
    assert!(
        matches!(again, Queued::Again(_)),
        "what was answered before is there"
    );
    spool.enqueue(entry(2)).await.unwrap();
    assert_eq!(spool.next_batch(9).await.unwrap().len(), 2);
    spool.close().await.unwrap();
}
