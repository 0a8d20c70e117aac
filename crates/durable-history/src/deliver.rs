//! Writing a batch of one tenant's work to the memory service, and what its answers mean.

mod answer;
mod probe;
mod resolve;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use throughline_conversation_memory::{
    AppendError, Appended, Cause, ChannelScope, ClientMessageId, MemoryError, NewTurn, NotKept,
    QueuedAppend,
};
use throughline_domain::{TenantId, Timestamp};

use crate::MemoryService;
use crate::line::{Fate, HOLDS};
use crate::report::{Outcome, Report, clear_failed};

use answer::Answer;
use probe::probes;

/// One write.
#[derive(Clone)]
pub(crate) enum Job {
    Append(Box<QueuedAppend>),
    /// The scope was cleared then.
    Clear(ChannelScope, Timestamp),
}

impl Job {
    pub(crate) fn scope(&self) -> &ChannelScope {
        match self {
            Self::Append(append) => append.turn().scope(),
            Self::Clear(scope, _) => scope,
        }
    }
}

/// One delivery: to whom, for whom, how patiently, who hears of it.
pub(crate) struct Delivery<'a> {
    pub(crate) service: &'a MemoryService,
    pub(crate) tenant: &'a TenantId,
    pub(crate) deadline: Duration,
    pub(crate) report: &'a Report,
    /// Any number, to choose by.
    pub(crate) random: u64,
}

impl Delivery<'_> {
    /// One fate a job, in order. A clearing waits for the appends before it, and not for those of other
    /// scopes. `tries` says how often each failed before.
    pub(crate) async fn run(&self, jobs: Vec<Job>, tries: &[u32]) -> Vec<Fate> {
        let number = jobs.len();
        // A memory that panics must not end the task that writes for everybody: it would do so unheard.
        let delivered = AssertUnwindSafe(self.deliver(jobs, tries)).catch_unwind();
        delivered.await.unwrap_or_else(|_| {
            tracing::error!(tenant.id = %self.tenant, "conversation memory panicked; the turns wait");
            vec![Fate::Away; number]
        })
    }

    async fn deliver(&self, jobs: Vec<Job>, tries: &[u32]) -> Vec<Fate> {
        let mut fates = vec![Fate::Untried; jobs.len()];
        let mut appends: Vec<usize> = Vec::new();
        let mut held: HashSet<ChannelScope> = HashSet::new();
        for (at, job) in jobs.iter().enumerate() {
            match job {
                Job::Append(_) => appends.push(at),
                Job::Clear(scope, moment) => {
                    let before = std::mem::take(&mut appends);
                    self.append(&jobs, &before, tries, &mut fates).await;
                    let stuck = before.iter().filter(|at| fates[**at] != Fate::Done);
                    held.extend(stuck.map(|at| jobs[*at].scope().clone()));
                    if !held.contains(scope) {
                        fates[at] = self.clear(scope, *moment, tries[at] > 0).await;
                    }
                }
            }
        }
        self.append(&jobs, &appends, tries, &mut fates).await;
        charge(&mut fates);
        fates
    }

    async fn append(&self, jobs: &[Job], at: &[usize], tries: &[u32], fates: &mut [Fate]) {
        if at.is_empty() {
            return;
        }
        let turns = |at: &[usize]| -> Vec<QueuedAppend> {
            let jobs = at.iter().map(|at| &jobs[*at]);
            jobs.filter_map(|job| match job {
                Job::Append(append) => Some(QueuedAppend::clone(append)),
                Job::Clear(..) => None,
            })
            .collect()
        };
        let mut answers = self.offer(&turns(at)).await;
        if at.len() > 1 && answers.iter().all(|answer| !answer.shows_life()) {
            let tries: Vec<u32> = at.iter().map(|at| tries[*at]).collect();
            self.probe(&turns(at), &mut answers, &tries).await;
        }
        let answers = self.keep(turns(at), answers, at, tries).await;
        for (at, answer) in at.iter().zip(answers) {
            fates[*at] = answer.fate();
        }
    }

    /// A few alone; once any of them shows life, all others too, in order. What fails alone holds up its
    /// scope, so that the order stands, until it has failed too often.
    async fn probe(&self, appends: &[QueuedAppend], answers: &mut [Answer], tries: &[u32]) {
        let probes = probes(appends, self.random);
        let rest = (0..appends.len()).filter(|at| !probes.contains(at));
        let mut held: HashSet<&ChannelScope> = HashSet::new();
        let mut waiting = Vec::new();
        let mut alive = false;
        for (number, at) in probes.iter().copied().chain(rest).enumerate() {
            if number >= probes.len() && !alive {
                // All of them failed, with the batch.
                return;
            }
            let scope = appends[at].turn().scope();
            if held.contains(scope) {
                waiting.push(at);
            } else if self.try_alone(appends, answers, at).await {
                alive = true;
            } else if tries[at] < HOLDS {
                held.insert(scope);
            }
        }
        if alive {
            for at in waiting {
                answers[at] = Answer::Held;
            }
        }
    }

    async fn try_alone(&self, appends: &[QueuedAppend], answers: &mut [Answer], at: usize) -> bool {
        if let Some(answer) = self.offer(&appends[at..=at]).await.pop() {
            answers[at] = answer;
        }
        answers[at].shows_life()
    }

    /// Asks the store.
    async fn offer(&self, appends: &[QueuedAppend]) -> Vec<Answer> {
        let (turns, mut answers) = self.resolved(appends).await;
        if turns.is_empty() {
            return answers.into_iter().flatten().collect();
        }
        let keys: Vec<ClientMessageId> = turns.iter().map(|turn| turn.key().clone()).collect();
        let results = self.ask(turns, &keys).await;
        let mut results = results.into_iter();
        for answer in &mut answers {
            if answer.is_none() {
                *answer = results.next().map(Answer::from);
            }
        }
        let lost = || Answer::lost("the store gave no answer for this turn");
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or_else(lost))
            .collect()
    }

    async fn ask(
        &self,
        turns: Vec<NewTurn>,
        keys: &[ClientMessageId],
    ) -> Vec<Result<Appended, AppendError>> {
        let asked = self.service.memory.append_batch(self.tenant, turns);
        let late = |key: &ClientMessageId| {
            Err(AppendError::Timeout {
                key: key.clone(),
                cause: Cause::text("no answer within the adapter's own deadline"),
            })
        };
        let answer = tokio::time::timeout(self.deadline, asked).await;
        answer.unwrap_or_else(|_| keys.iter().map(late).collect())
    }

    /// Reports every answer, and puts what the store did not take into its outbox, if it has one.
    async fn keep(
        &self,
        appends: Vec<QueuedAppend>,
        mut answers: Vec<Answer>,
        at: &[usize],
        tries: &[u32],
    ) -> Vec<Answer> {
        for ((append, answer), at) in appends.iter().zip(&answers).zip(at) {
            self.report
                .answered(self.tenant, append, &answer.outcome(), tries[*at] > 0);
        }
        let Some(outbox) = &self.service.outbox else {
            return answers;
        };
        let lost = |at: &usize| matches!(answers[*at], Answer::Lost(..));
        let left: Vec<usize> = (0..answers.len()).filter(lost).collect();
        if left.is_empty() {
            return answers;
        }
        let asked: Vec<QueuedAppend> = left.iter().map(|at| appends[*at].clone()).collect();
        let kept = outbox.keep(self.tenant, asked);
        let Ok(kept) = tokio::time::timeout(self.deadline, kept).await else {
            return answers;
        };
        for (at, kept) in left.into_iter().zip(kept) {
            match kept {
                Ok(()) => answers[at] = Answer::Queued,
                Err(NotKept::Unavailable { .. }) => {}
                Err(refused) => {
                    let refused = Answer::Refused(Box::new(refused));
                    self.report
                        .answered(self.tenant, &appends[at], &refused.outcome(), false);
                    answers[at] = refused;
                }
            }
        }
        answers
    }

    async fn clear(&self, scope: &ChannelScope, at: Timestamp, again: bool) -> Fate {
        let asked = self.service.memory.clear(self.tenant, scope);
        match tokio::time::timeout(self.deadline, asked).await {
            // Where there is no tenant there is nothing to come back.
            Ok(Ok(()) | Err(MemoryError::UnknownTenant(_))) => {
                self.report.cleared(self.tenant, scope, at);
                Fate::Done
            }
            Ok(Err(error)) => {
                clear_failed(self.tenant, &error, again);
                Fate::Away
            }
            Err(late) => {
                clear_failed(self.tenant, &late, again);
                Fate::Away
            }
        }
    }
}

/// What failed while others got through failed by itself.
fn charge(fates: &mut [Fate]) {
    if fates.contains(&Fate::Done) {
        for fate in fates.iter_mut().filter(|fate| **fate == Fate::Away) {
            *fate = Fate::Failed;
        }
    }
}

impl Answer {
    fn outcome(&self) -> Outcome<'_> {
        match self {
            Self::Stored(id, user) => Outcome::Stored(*id, *user),
            Self::Committed(id, cause) => Outcome::Committed(*id, cause),
            Self::Refused(reason) => Outcome::Refused(reason.as_ref()),
            Self::Queued | Self::Held => Outcome::Waits,
            Self::Lost(failure, cause) => Outcome::Lost(*failure, cause.as_ref()),
        }
    }

    fn fate(&self) -> Fate {
        match self {
            Self::Stored(..) | Self::Committed(..) | Self::Refused(_) | Self::Queued => Fate::Done,
            Self::Lost(..) => Fate::Away,
            Self::Held => Fate::Untried,
        }
    }
}
