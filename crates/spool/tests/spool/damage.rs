//! Files that were cut, overwritten, or hold an entry somebody changed.

use std::path::PathBuf;

use redb::{Database, ReadableDatabase, TableDefinition};
use throughline_spool::{OpenError, Queued, REASON_CORRUPT};

use crate::support::{Fixture, entry, keys, tenant};

const CONTENTS: TableDefinition<u64, &[u8]> = TableDefinition::new("contents");
const PENDING: TableDefinition<u64, &[u8]> = TableDefinition::new("pending");

fn file(fixture: &Fixture) -> PathBuf {
    fixture.path().join("spool.redb")
}

async fn filled(fixture: &Fixture, entries: u32) {
    let spool = fixture.open().await;
    for n in 0..entries {
        spool.enqueue(entry("acme", &n.to_string())).await.unwrap();
    }
    spool.close().await.unwrap();
}

/// Flips a bit of a row, as a bad disk or a meddler would, keeping the file's own checksums right.
fn flip(fixture: &Fixture, table: TableDefinition<u64, &[u8]>, seq: u64) {
    let db = Database::open(file(fixture)).unwrap();
    let mut bytes = {
        let read = db.begin_read().unwrap();
        let rows = read.open_table(table).unwrap();
        rows.get(seq).unwrap().unwrap().value().to_vec()
    };
    bytes[30] ^= 1;
    let write = db.begin_write().unwrap();
    write
        .open_table(table)
        .unwrap()
        .insert(seq, bytes.as_slice())
        .unwrap();
    write.commit().unwrap();
}

#[tokio::test]
async fn a_changed_content_is_set_aside_and_counted_and_blocks_nothing() {
    let fixture = Fixture::new();
    filled(&fixture, 3).await;
    flip(&fixture, CONTENTS, 2);
    let spool = fixture.open().await;
    let batch = spool.next_batch(9).await.unwrap();
    assert_eq!(keys(&batch), ["0", "2"]);
    assert_eq!(spool.stats().corrupt_total, 1);
    let aside = spool
        .list_set_aside(Some(tenant("acme")), None, 9)
        .await
        .unwrap();
    assert_eq!((aside.len(), aside[0].reason.as_str()), (1, REASON_CORRUPT));
    assert_eq!(spool.read(tenant("acme"), aside[0].id).await.unwrap(), None);
    assert_eq!(
        spool
            .discard(tenant("acme"), vec![aside[0].id])
            .await
            .unwrap(),
        1
    );
}

#[tokio::test]
async fn a_changed_head_is_put_away_and_counted_and_blocks_nothing() {
    let fixture = Fixture::new();
    filled(&fixture, 3).await;
    flip(&fixture, PENDING, 2);
    let spool = fixture.open().await;
    assert_eq!(keys(&spool.next_batch(9).await.unwrap()), ["0", "2"]);
    let stats = spool.stats();
    assert_eq!(
        (
            stats.corrupt_total,
            stats.unreadable.entries,
            stats.pending.entries
        ),
        (1, 1, 2)
    );
    spool.close().await.unwrap();
    let spool = fixture.open().await;
    assert_eq!(spool.stats().unreadable, stats.unreadable);
    // Its key is free: a retry is a new entry.
    assert!(matches!(
        spool.enqueue(entry("acme", "1")).await.unwrap(),
        Queued::New(_)
    ));
    assert_eq!(spool.discard_unreadable().await.unwrap(), 1);
    assert_eq!(spool.stats().unreadable.bytes, 0);
    assert!(matches!(
        spool.enqueue(entry("acme", "1")).await.unwrap(),
        Queued::Again(_)
    ));
}

/// Two sealed contents exchanged: each is whole, neither is where it was sealed.
#[tokio::test]
async fn a_content_in_anothers_place_is_found() {
    let fixture = Fixture::new();
    filled(&fixture, 2).await;
    {
        let db = Database::open(file(&fixture)).unwrap();
        let write = db.begin_write().unwrap();
        {
            let mut rows = write.open_table(CONTENTS).unwrap();
            let first = rows.remove(1).unwrap().unwrap().value().to_vec();
            let second = rows.remove(2).unwrap().unwrap().value().to_vec();
            rows.insert(1, second.as_slice()).unwrap();
            rows.insert(2, first.as_slice()).unwrap();
        }
        write.commit().unwrap();
    }
    let spool = fixture.open().await;
    assert!(spool.next_batch(9).await.unwrap().is_empty());
    assert_eq!(spool.stats().set_aside.entries, 2);
}

/// A file cut anywhere opens with all its entries or is refused by name; it is never taken for an
/// empty or a shorter one, except when nothing of it is left.
#[tokio::test]
async fn a_torn_file_is_whole_or_refused() {
    let fixture = Fixture::new();
    filled(&fixture, 40).await;
    let whole = std::fs::read(file(&fixture)).unwrap();
    let mut refused = 0;
    for cut in (1..whole.len()).step_by(whole.len() / 25) {
        std::fs::write(file(&fixture), &whole[..cut]).unwrap();
        match fixture.try_open(&crate::support::key(1)).await {
            Ok(spool) => {
                assert_eq!(spool.stats().pending.entries, 40, "cut at {cut}");
                spool.close().await.unwrap();
            }
            Err(OpenError::Damaged { .. }) => refused += 1,
            Err(other) => panic!("cut at {cut}: {other:?}"),
        }
    }
    assert!(refused > 0);
}

/// A page overwritten anywhere: all entries that are left open right, and none is invented.
#[tokio::test]
async fn an_overwritten_page_is_whole_or_refused() {
    let fixture = Fixture::new();
    filled(&fixture, 40).await;
    let whole = std::fs::read(file(&fixture)).unwrap();
    for page in 0..whole.len() / 4096 {
        let mut torn = whole.clone();
        torn[page * 4096 + 100..page * 4096 + 300].fill(0xA5);
        std::fs::write(file(&fixture), &torn).unwrap();
        match fixture.try_open(&crate::support::key(1)).await {
            Ok(spool) => {
                assert_eq!(spool.stats().pending.entries, 40, "page {page}");
                assert_eq!(spool.next_batch(99).await.unwrap().len(), 40, "page {page}");
                spool.close().await.unwrap();
            }
            Err(OpenError::Damaged { .. }) => {}
            Err(other) => panic!("page {page}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_file_of_something_else_is_refused() {
    let fixture = Fixture::new();
    std::fs::write(file(&fixture), b"somebody's notes".repeat(1000)).unwrap();
    assert!(fixture.try_open(&crate::support::key(1)).await.is_err());
    assert_eq!(
        std::fs::read(file(&fixture)).unwrap(),
        b"somebody's notes".repeat(1000)
    );
}
