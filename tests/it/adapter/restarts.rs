//! Turns that are told on the phone are at the desk, whichever process ended in between.

use std::ops::RangeInclusive;
use std::path::Path;

use throughline_domain::{Clock as _, SystemClock};
use throughline_platform_identity::PlatformIdentity as _;
use throughline_tests::{World, recent_texts};

use super::channel::{BUFFER, Channel, Surroundings, acme, client, mina};
use super::desk::Desk;
use super::outbox;

fn surroundings<'a>(world: &World, key: &'a str, directory: Option<&'a Path>) -> Surroundings<'a> {
    Surroundings {
        url: world.service.url(),
        key,
        began_ms: SystemClock.now().as_millis() - 60_000,
        directory,
    }
}

fn messages(numbers: RangeInclusive<i64>) -> Vec<String> {
    numbers.map(|number| format!("message {number}")).collect()
}

/// Everything stored for Mina, oldest first.
async fn stored(world: &World) -> Vec<String> {
    // What the channel left with the service in the moment it came back.
    outbox::drain(world).await;
    let direct = client(&world.service.url(), world.acme.key());
    let found = direct.lookup(&acme(), &mina().id).await.expect("reads");
    let user = found.expect("she was seen").to_string();
    let mut texts = recent_texts(&world.acme, "acme", &user).await;
    texts.reverse();
    texts
}

/// Issue E: nothing is lost and nothing doubled, though the service is killed before the first half of it is
/// told and the channel before the second, and the platform delivers a message again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_disk_every_turn_survives_both_processes_and_is_there_once() {
    let mut world = World::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let key = world.acme.key().to_owned();
    let around = surroundings(&world, &key, Some(directory.path()));
    let mut phone = Channel::start(&around);
    phone.hear(1..=2);
    phone.ask("flush");
    let block = Desk::at(&world).block().await;
    assert!(
        block.contains("message 1") && block.contains("message 2"),
        "{block}"
    );

    world.service.kill();
    phone.hear(3..=20);
    phone.ask("secure");
    phone.kill();
    let mut phone = Channel::start(&around);
    phone.hear(20..=22);
    phone.ask("secure");
    phone.kill();
    world.service.restart().ready().await;
    let mut phone = Channel::start(&around);
    phone.hear(23..=23);
    phone.ask("flush");
    assert_eq!(phone.number("dropped"), 0);
    assert_eq!(stored(&world).await, messages(1..=23));
    let block = Desk::at(&world).block().await;
    for late in messages(20..=23) {
        assert!(block.contains(&late), "{late} is missing:\n{block}");
    }
    // A channel that starts again has its conversation back.
    phone.kill();
    let mut phone = Channel::start(&around);
    assert_eq!(phone.number("past"), 10);
}

/// Issue E: without a disk a killed channel loses what its buffer held and no more, the gauges said how much
/// that is, and what had no room in the buffer is counted exactly.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_disk_the_buffer_is_lost_at_most_and_the_counter_says_how_much() {
    const HEARD: usize = 20;
    let mut world = World::start().await;
    let key = world.acme.key().to_owned();
    let around = surroundings(&world, &key, None);
    let mut phone = Channel::start(&around);
    phone.hear(1..=2);
    phone.ask("flush");

    // The service is killed and comes back; the channel lives.
    world.service.kill();
    phone.hear(3..=20);
    let dropped = phone.number("dropped");
    world.service.restart().ready().await;
    phone.ask("flush");
    assert_eq!(phone.number("dropped"), dropped);
    let kept = stored(&world).await;
    assert_eq!(kept.len() + dropped, HEARD, "{kept:?}");
    assert!(kept.len() >= 2 + BUFFER, "{kept:?}");
    // The oldest go first, but for those that were being written when the service went: they stay, and so many
    // of the latest less.
    let written = (1..=20).take_while(|&n| kept.contains(&messages(n..=n)[0]));
    let written = written.count();
    let latest = i64::try_from(HEARD + 1 + written - kept.len()).expect("small");
    assert_eq!(kept[written..], messages(latest..=20), "{kept:?}");
    assert!(written < kept.len(), "none of the latest: {kept:?}");
    let block = Desk::at(&world).block().await;
    assert!(block.contains("message 20"), "{block}");

    // Both are killed.
    world.service.kill();
    phone.hear(21..=25);
    assert_eq!(phone.number("dropped"), dropped);
    let waiting = phone.number("waiting");
    assert!(waiting <= BUFFER, "{waiting}");
    phone.kill();
    world.service.restart().ready().await;
    let mut phone = Channel::start(&around);
    phone.hear(26..=26);
    phone.ask("flush");
    let after = stored(&world).await;
    assert_eq!(after.len(), kept.len() + 5 - waiting + 1, "{after:?}");
    assert!(after.starts_with(&kept) && after.ends_with(&messages(26..=26)));
}
