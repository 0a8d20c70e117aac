//! Cases of many callers at once.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use throughline_domain::{TenantId, UserId};

use super::sample::{acme_and_mina, all, latest, limit, said, scope, told, usage};
use super::together::together;
use super::{Subject, turn};
use crate::{AppendOutcome, ConversationMemory};

/// failures.md 3: 50 callers with one key get one id, one of them stored it, and there is one row.
pub async fn fifty_callers_with_one_key_store_one_turn(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let calls = (0..50)
        .map(|_| {
            let (memory, acme) = (subject.memory(), acme.clone());
            async move { memory.append(&acme, turn(mina, "k1").build()).await }
        })
        .collect();
    let mut ids = HashSet::new();
    let mut stored = 0;
    for answer in together(calls).await {
        let appended = answer.expect("stored or found");
        ids.insert((appended.turn_id, appended.seq));
        stored += usize::from(appended.outcome == AppendOutcome::Stored);
    }
    assert_eq!((ids.len(), stored), (1, 1));
    assert_eq!(latest(subject, &acme, mina).await.len(), 1);
    let counted = usage(subject, &acme, mina).await;
    assert_eq!((counted.turn_count, counted.byte_count), (1, 5));
}

/// failures.md 3: 50 callers with 50 keys store 50 turns, and all of them are read back.
pub async fn fifty_callers_with_fifty_keys_store_fifty_turns(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let calls = (0..50)
        .map(|number| {
            let (memory, acme) = (subject.memory(), acme.clone());
            let said = turn(mina, &format!("k{number}")).saying(&format!("{number:02}"));
            async move { memory.append(&acme, said.build()).await }
        })
        .collect();
    let mut ids = HashSet::new();
    for answer in together(calls).await {
        let appended = answer.expect("a good turn");
        assert_eq!(appended.outcome, AppendOutcome::Stored);
        ids.insert(appended.turn_id);
    }
    assert_eq!(ids.len(), 50);
    let recent = latest(subject, &acme, mina).await;
    let history = told(subject, &acme, &scope("slack-user", "C1")).await;
    let expected: Vec<String> = (0..50).map(|number| format!("{number:02}")).collect();
    for turns in [recent, history] {
        assert_eq!(
            turns.iter().map(|turn| turn.id).collect::<HashSet<_>>(),
            ids
        );
        let mut texts = said(&turns);
        texts.sort_unstable();
        assert_eq!(texts, expected);
    }
    let counted = usage(subject, &acme, mina).await;
    assert_eq!((counted.turn_count, counted.byte_count), (50, 100));
}

const ROUNDS: usize = 5;
const WRITERS: usize = 8;
const EACH: usize = 12;
type Task = Pin<Box<dyn Future<Output = Vec<u64>> + Send>>;

/// Appends one turn after the other and gives their places.
async fn write(
    memory: Arc<dyn ConversationMemory>,
    tenant: TenantId,
    user: UserId,
    scope: String,
) -> Vec<u64> {
    let mut places = Vec::with_capacity(EACH);
    for number in 0..EACH {
        let new = turn(user, &format!("{user} {scope} {number}")).on("slack-user", &scope);
        let appended = memory.append(&tenant, new.build()).await;
        places.push(appended.expect("a good turn").seq);
    }
    places
}

/// Reads the scope again and again while others write: what turns up later stands later.
async fn follow(
    memory: Arc<dyn ConversationMemory>,
    tenant: TenantId,
    scope: String,
    writers_left: Arc<AtomicUsize>,
) -> Vec<u64> {
    let scope = super::sample::scope("slack-user", &scope);
    let mut seen: Vec<u64> = Vec::new();
    loop {
        let last_look = writers_left.load(Ordering::SeqCst) == 0;
        let turns = memory.history(&tenant, &scope, limit(100)).await;
        let now: Vec<u64> = turns.expect("reads").iter().map(|turn| turn.seq).collect();
        let highest = seen.iter().max().copied().unwrap_or(0);
        for place in &now {
            let late = *place < highest && !seen.contains(place);
            assert!(!late, "{place} turned up after {highest} had been read");
        }
        assert!(
            seen.iter().all(|place| now.contains(place)),
            "a turn vanished"
        );
        if last_look {
            return now;
        }
        seen = now;
        tokio::task::yield_now().await;
    }
}

/// Tells that a writer is done, also when it fails: the follower must not wait for ever.
struct Done(Arc<AtomicUsize>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// D-03, T-06: `seq` is in commit order, so a reader that follows it misses nothing, and no place is
/// given twice.
pub async fn places_are_given_in_commit_order(subject: &dyn Subject) {
    let acme = subject.tenant("acme", 90).await;
    let mut users = Vec::new();
    for _ in 0..WRITERS {
        users.push(subject.user(&acme).await);
    }
    let mut given = Vec::new();
    // A late place shows only to a reader that looks at the right moment: several rounds.
    for round in 0..ROUNDS {
        given.extend(race(subject, &acme, &users, &format!("C{round}")).await);
    }
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), ROUNDS * WRITERS * EACH);
}

/// One round in a scope of its own; gives the places that were answered.
async fn race(subject: &dyn Subject, acme: &TenantId, users: &[UserId], scope: &str) -> Vec<u64> {
    let writers_left = Arc::new(AtomicUsize::new(users.len()));
    let mut tasks: Vec<Task> = Vec::new();
    for user in users {
        let done = Done(writers_left.clone());
        let writing = write(subject.memory(), acme.clone(), *user, scope.to_owned());
        tasks.push(Box::pin(async move {
            let _done = done;
            writing.await
        }));
    }
    let (memory, scope) = (subject.memory(), scope.to_owned());
    tasks.push(Box::pin(follow(memory, acme.clone(), scope, writers_left)));
    let mut answers = together(tasks).await;
    let mut read = answers.pop().expect("the follower's answer");
    for places in &answers {
        assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    }
    let mut given: Vec<u64> = answers.into_iter().flatten().collect();
    given.sort_unstable();
    read.sort_unstable();
    assert_eq!(read, given);
    given
}

/// failures.md 9: tenants flooded at once with equal keys and scopes keep their own.
pub async fn tenants_flooded_at_once_keep_their_own(subject: &dyn Subject) {
    let mut users = Vec::new();
    for name in super::sample::LOOKALIKES {
        let tenant = subject.tenant(name, 90).await;
        let user = subject.user(&tenant).await;
        users.push((tenant, user));
    }
    let mut calls = Vec::new();
    for number in 0..20 {
        for (tenant, user) in users.clone() {
            let new = turn(user, &format!("k{number}"))
                .saying(tenant.as_str())
                .build();
            let memory = subject.memory();
            calls.push(async move { memory.append(&tenant, new).await });
        }
    }
    for answer in together(calls).await {
        assert_eq!(answer.expect("a good turn").outcome, AppendOutcome::Stored);
    }
    for (tenant, user) in users {
        let recent = all(subject, &tenant, user).await;
        let history = told(subject, &tenant, &scope("slack-user", "C1")).await;
        assert_eq!(said(&recent), vec![tenant.as_str(); 20]);
        assert_eq!(said(&history), vec![tenant.as_str(); 20]);
    }
}
