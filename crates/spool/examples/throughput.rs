//! Prints how many entries a second are taken in durably, and how long they take to come out:
//! `cargo run --release -p throughline-spool --example throughput -- [directory] [entries]`.
//! The directory decides what is measured: its disk's sync is nearly all of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use throughline_domain::{SystemClock, SystemIds, TenantId};
use throughline_spool::{NewEntry, Spool, SpoolConfig, SpoolKey, Verdict};

const PAYLOAD: usize = 1024;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let entries: usize = arguments.next().map_or(Ok(6400), |text| text.parse())?;
    println!("{PAYLOAD} bytes an entry; group = 20 ms or 64 entries, single = no gathering");
    for (callers, entries) in [(1, entries / 64), (64, entries), (256, entries)] {
        for (name, interval) in [
            ("group", SpoolConfig::default().flush_interval),
            ("single", Duration::ZERO),
        ] {
            let directory = tempfile::tempdir_in(&parent)?;
            measure(
                directory.path(),
                name,
                interval,
                callers,
                entries.max(callers),
            )
            .await?;
        }
    }
    Ok(())
}

async fn measure(
    directory: &Path,
    name: &str,
    flush_interval: Duration,
    callers: usize,
    entries: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let config = SpoolConfig {
        flush_interval,
        ..SpoolConfig::default()
    };
    let key = SpoolKey::from_bytes(std::array::from_fn(|n| u8::try_from(n).unwrap_or(0)));
    let spool = Spool::open(
        directory,
        config,
        &key,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
    )
    .await?;
    let each = entries / callers;
    let started = Instant::now();
    let calls = (0..callers).map(|caller| {
        let spool = spool.clone();
        async move {
            let mut slowest = Vec::with_capacity(each);
            for n in 0..each {
                let started = Instant::now();
                spool.enqueue(entry(caller, n)).await?;
                slowest.push(started.elapsed());
            }
            Ok::<_, throughline_spool::SpoolError>(slowest)
        }
    });
    let mut waits = Vec::new();
    for caller in join_all(calls).await {
        waits.extend(caller?);
    }
    let took = started.elapsed();
    waits.sort();
    let commits = spool.stats().commits_total;
    let file = std::fs::metadata(directory.join("spool.redb"))?.len();
    let drain_started = Instant::now();
    let drained = spool
        .drain(500, |_| std::future::ready(Verdict::Stored))
        .await?;
    let drain = drain_started.elapsed();
    spool.close().await?;
    println!(
        "{name:6} {callers:3} callers: {} entries in {took:.2?} = {:.0}/s, p50 {:.2?}, p99 {:.2?}, {commits} syncs, file {} KiB; {} drained in {drain:.2?}",
        waits.len(),
        per_second(waits.len(), took),
        waits[waits.len() / 2],
        waits[waits.len() * 99 / 100],
        file / 1024,
        drained.stored,
    );
    Ok(())
}

fn per_second(count: usize, took: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / took.as_secs_f64()
}

fn entry(caller: usize, n: usize) -> NewEntry {
    NewEntry {
        tenant: TenantId::parse("acme").expect("a plain name is one"),
        user: None,
        key: format!("{caller}:{n}"),
        order: Some(caller.to_string()),
        digest: None,
        payload: vec![7; PAYLOAD],
    }
}
