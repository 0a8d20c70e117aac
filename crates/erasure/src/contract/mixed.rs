//! Everything that moves counters at once: appends, sweeps, merges and their undoing, erasures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, Chunk, ConversationMemory, Pass, RejectReason, Restamp, Retention,
};
use throughline_domain::{ManualClock, MergeId, TenantId, UserId};
use throughline_platform_identity::{
    ChannelUser, IdentityError, MergeSource, PlatformIdentity, PlatformKind,
};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::SweptSubject;
use super::sample::{operator, tenant};
use super::together::together;
use crate::{Erasure, Mode};

const TASKS: u64 = 8;
const TIME: Duration = Duration::from_secs(10);
const WEEK: Duration = Duration::from_hours(7 * 24);

/// failures.md 8, R-070: ten seconds of everything in eight tasks; the counters then equal COUNT and SUM.
pub async fn ten_seconds_of_everything_leave_the_counters_exact(subject: &dyn SweptSubject) {
    let acme = tenant(subject, "acme").await;
    let crowd = Crowd {
        tenant: acme.clone(),
        identity: subject.identity(),
        memory: subject.memory(),
        erasure: subject.erasure(),
        retention: subject.retention(),
        clock: subject.clock(),
        people: Arc::default(),
        merges: Arc::default(),
        counts: Arc::default(),
    };
    for number in 0..6 {
        crowd.arrive(number).await;
    }
    let until = Instant::now() + TIME;
    let tasks = (0..TASKS).map(|number| crowd.clone().run(number, until));
    together(tasks.collect()).await;
    for (what, count) in ["append", "sweep", "merge", "undo", "erase"]
        .iter()
        .zip(&*crowd.counts)
    {
        assert!(count.load(Ordering::SeqCst) > 0, "no {what} was done");
    }
    let mut after = None;
    loop {
        let found = subject
            .retention()
            .reconcile(&acme, after, 100)
            .await
            .expect("looked");
        assert_eq!((found.drifted, found.turns_off, found.bytes_off), (0, 0, 0));
        after = found.next;
        if after.is_none() {
            return;
        }
    }
}

#[derive(Clone)]
struct Crowd {
    tenant: TenantId,
    identity: Arc<dyn PlatformIdentity>,
    memory: Arc<dyn ConversationMemory>,
    erasure: Arc<dyn Erasure>,
    retention: Arc<dyn Retention>,
    clock: Arc<ManualClock>,
    people: Arc<Mutex<Vec<UserId>>>,
    merges: Arc<Mutex<Vec<MergeId>>>,
    /// Appends, sweeps, merges, undos, erasures.
    counts: Arc<[AtomicU64; 5]>,
}

impl Crowd {
    async fn run(self, task: u64, until: Instant) {
        let mut chance = task.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut number = 0;
        while Instant::now() < until {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            number += 1;
            let kind = match chance % 100 {
                0..60 => self.say(&format!("{task}-{number}"), chance >> 8).await,
                60..82 => self.sweep(chance >> 8).await,
                82..90 => self.merge(chance >> 8).await,
                90..96 => self.undo().await,
                _ => self.erase(chance >> 8, &format!("{task} {number}")).await,
            };
            self.counts[kind].fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn arrive(&self, name: impl ToString) {
        let who = ChannelUser::new(PlatformKind::Custom, &name.to_string()).expect("a plain id");
        let user = self
            .identity
            .resolve(&self.tenant, &who)
            .await
            .expect("resolves")
            .user_id;
        self.people.lock().await.push(user);
    }

    async fn somebody(&self, chance: u64) -> UserId {
        let people = self.people.lock().await;
        people[usize::try_from(chance % people.len() as u64).expect("small")]
    }

    async fn say(&self, key: &str, chance: u64) -> usize {
        let user = self.somebody(chance).await;
        let words = "word ".repeat(1 + usize::try_from(chance % 9).expect("small"));
        let turn = turn(user, key).saying(&words).build();
        match self.memory.append(&self.tenant, turn).await {
            // Refused: erased in between.
            Ok(_)
            | Err(AppendError::Rejected {
                reason: RejectReason::Gone,
                ..
            }) => {}
            Err(error) => panic!("{error:?}"),
        }
        self.clock.advance(Duration::from_mins(chance % 300));
        0
    }

    async fn sweep(&self, chance: u64) -> usize {
        let user = self.somebody(chance >> 4).await;
        if chance.is_multiple_of(11) {
            let ttl = Duration::from_hours(24 * (30 + chance % 60));
            let rule = Restamp { ttl, extend: false };
            self.retention
                .restamp(&self.tenant, rule, Chunk::new(20))
                .await
                .expect("restamped");
        }
        let pass = match chance % 3 {
            0 => Pass::Ended,
            1 => Pass::Count { user, cap: 40 },
            _ => Pass::Bytes { user, cap: 900 },
        };
        let swept = self
            .retention
            .sweep(&self.tenant, pass, Chunk::new(10), WEEK)
            .await;
        swept.expect("swept");
        1
    }

    async fn merge(&self, chance: u64) -> usize {
        let (one, other) = (
            self.somebody(chance).await,
            self.somebody(chance >> 9).await,
        );
        let merged = self
            .identity
            .merge(&self.tenant, one, other, MergeSource::Manual, &operator())
            .await;
        match merged {
            Ok(merged) => self.merges.lock().await.push(merged.merge_id),
            Err(IdentityError::NoChange | IdentityError::UnknownUser(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
        2
    }

    async fn undo(&self) -> usize {
        let Some(merge) = self.merges.lock().await.pop() else {
            return 3;
        };
        match self
            .identity
            .undo_merge(&self.tenant, merge, &operator())
            .await
        {
            // One of the two was erased in between.
            Ok(_) | Err(IdentityError::UnknownMerge(_) | IdentityError::AlreadyUndone(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
        3
    }

    async fn erase(&self, chance: u64, successor: &str) -> usize {
        let user = self.somebody(chance).await;
        self.erasure
            .erase(&self.tenant, user, &operator(), Mode::Erase)
            .await
            .expect("erased");
        let mut people = self.people.lock().await;
        people.retain(|person| *person != user);
        drop(people);
        self.arrive(successor).await;
        4
    }
}
