//! A thousand merges and undos of fifty people, by eight at a time, while everybody goes on talking.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use throughline_conversation_memory::ConversationMemory;
use throughline_conversation_memory::contract::turn;
use throughline_domain::{MergeId, TenantId, UserId};
use throughline_platform_identity::{IdentityError, MergeSource, PlatformIdentity};
use tokio::sync::Mutex;

use super::Subject;
use super::sample::{assert_counted, custom, operator, person, tenant, turns};
use super::together::together;

const PEOPLE: usize = 50;
const MERGERS: usize = 8;
const TALKERS: usize = 2;
const CHANGES: usize = 1_000;

/// T-50, D-16, failures.md 8, 23: no circle, every channel user at a survivor, counters equal to COUNT
/// and SUM, every turn with exactly one person: the one its account belongs to.
pub async fn random_merges_and_undos_lose_nothing(subject: &dyn Subject) {
    let acme = tenant(subject, "acme").await;
    let mut people = Vec::new();
    for number in 0..PEOPLE {
        people.push(person(subject, &acme, &name_of(number), 2).await);
    }
    let crowd = Crowd {
        tenant: acme.clone(),
        identity: subject.identity(),
        memory: subject.memory(),
        people: Arc::new(people.clone()),
        made: Arc::default(),
        changes: Arc::default(),
    };
    let tasks = (0..MERGERS + TALKERS)
        .map(|number| crowd.clone().run(number))
        .collect();
    let said: Vec<(String, UserId)> = together(tasks).await.into_iter().flatten().collect();
    assert!(crowd.changes.load(Ordering::SeqCst) >= CHANGES);
    check(subject, &acme, &people, &said).await;
}

fn name_of(number: usize) -> String {
    format!("p{number}")
}

#[derive(Clone)]
struct Crowd {
    tenant: TenantId,
    identity: Arc<dyn PlatformIdentity>,
    memory: Arc<dyn ConversationMemory>,
    people: Arc<Vec<UserId>>,
    /// Merges that may still stand.
    made: Arc<Mutex<Vec<MergeId>>>,
    changes: Arc<AtomicUsize>,
}

impl Crowd {
    /// One merger or talker, until there were enough changes. Answers what was said, by which account.
    async fn run(self, number: usize) -> Vec<(String, UserId)> {
        let mut dice = Dice(number as u64 + 1);
        let mut said = Vec::new();
        while self.changes.load(Ordering::SeqCst) < CHANGES {
            // A store that answers at once would never let the others in.
            tokio::task::yield_now().await;
            if number < MERGERS {
                self.change(&mut dice).await;
            } else {
                let account = self.somebody(&mut dice);
                let key = format!("t{number}-{}", said.len());
                let stored = self
                    .memory
                    .append(&self.tenant, turn(account, &key).build())
                    .await;
                stored.expect("stored");
                said.push((key, account));
            }
        }
        said
    }

    async fn change(&self, dice: &mut Dice) {
        if dice.roll(2) == 0 {
            let (one, two) = (self.somebody(dice), self.somebody(dice));
            let source = MergeSource::System;
            match self
                .identity
                .merge(&self.tenant, one, two, source, &operator())
                .await
            {
                Ok(merged) => self.made.lock().await.push(merged.merge_id),
                Err(IdentityError::NoChange) => return,
                Err(error) => panic!("{error:?}"),
            }
        } else {
            let mut made = self.made.lock().await;
            if made.is_empty() {
                return;
            }
            let place = dice.roll(made.len());
            let merge = made.swap_remove(place);
            drop(made);
            let undone = self
                .identity
                .undo_merge(&self.tenant, merge, &operator())
                .await;
            undone.expect("undone once");
        }
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    fn somebody(&self, dice: &mut Dice) -> UserId {
        self.people[dice.roll(self.people.len())]
    }
}

async fn check(
    subject: &dyn Subject,
    tenant: &TenantId,
    people: &[UserId],
    said: &[(String, UserId)],
) {
    let mut roots = HashMap::new();
    for (number, id) in people.iter().enumerate() {
        let user = subject
            .identity()
            .user(tenant, *id)
            .await
            .expect("reads")
            .expect("known");
        let found = subject
            .identity()
            .lookup(tenant, &custom(&name_of(number)).id)
            .await;
        assert_eq!(found.expect("reads"), Some(user.user_id));
        roots.insert(*id, user.user_id);
    }
    let survivors: HashSet<UserId> = roots.values().copied().collect();
    let mut readable = 0;
    let mut seen = HashSet::new();
    for survivor in &survivors {
        assert_eq!(roots[survivor], *survivor, "a survivor is nobody's alias");
        assert_counted(subject, tenant, *survivor).await;
        for turn in turns(subject, tenant, *survivor).await {
            assert!(seen.insert(turn.id), "read by two people");
            assert_eq!(turn.user_id, *survivor);
            readable += 1;
        }
    }
    assert_eq!(readable, said.len() + 2 * PEOPLE);
    // A retry finds each turn with the person its account belongs to now.
    for (key, account) in said {
        let again = subject
            .memory()
            .append(tenant, turn(*account, key).build())
            .await;
        assert_eq!(again.expect("found").user_id, roots[account]);
    }
}

/// Numbers that are the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        let Self(state) = self;
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        usize::try_from(*state % sides as u64).unwrap_or(0)
    }
}
