//! Turns of users who are held by a merge, its undo, an erasure or a sweep: they wait beside the writer,
//! each user's in their order, and nobody else's wait along.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use throughline_domain::{TenantId, UserId};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::waiting::Queued;
use crate::memory::{Appender, ROWS, Row, append_rows};

/// How many users are waited for at a time: each takes a connection of the common pool.
const AT_A_TIME: usize = 4;

type Person = (TenantId, UserId);

/// What waits, and the tasks that wait for it.
pub(super) struct Aside {
    /// On other connections than the writers', step by step: this one waits for locks.
    appender: Appender,
    /// A user is in it as long as a task waits for them, and turns that come meanwhile queue up.
    waiting: Mutex<HashMap<Person, VecDeque<Queued>>>,
    slots: Semaphore,
}

impl Aside {
    pub(super) fn new(writer: &Appender) -> Self {
        let appender = Appender {
            sessions: writer.others.clone(),
            others: writer.others.clone(),
            clock: writer.clock.clone(),
            ids: writer.ids.clone(),
            at_once: false,
        };
        Self {
            appender,
            waiting: Mutex::default(),
            slots: Semaphore::new(AT_A_TIME),
        }
    }

    /// Turns that wait here and that nobody has begun with.
    pub(super) fn len(&self) -> usize {
        self.waiting.lock().values().map(VecDeque::len).sum()
    }

    /// Keeps the turn if others of its user wait here; gives it back otherwise.
    pub(super) fn behind(&self, row: (TenantId, Queued)) -> Option<(TenantId, Queued)> {
        let mut waiting = self.waiting.lock();
        if waiting.is_empty() {
            return Some(row);
        }
        let person = person(&row);
        let Some(others) = waiting.get_mut(&person) else {
            return Some(row);
        };
        others.push_back(row.1);
        None
    }

    /// Waits for the users of these turns, which a writer has taken, and stores them.
    pub(super) fn put(aside: &Arc<Self>, rows: Vec<(TenantId, Queued)>, tasks: &TaskTracker) {
        let mut people: HashMap<Person, Vec<Queued>> = HashMap::new();
        for row in rows {
            people.entry(person(&row)).or_default().push(row.1);
        }
        for (person, rows) in people {
            aside.waiting.lock().entry(person.clone()).or_default();
            tasks.spawn(Self::wait(aside.clone(), person, rows));
        }
    }

    async fn wait(self: Arc<Self>, person: Person, first: Vec<Queued>) {
        let _leave = Leave(&self, &person);
        // Never closed, so there is always a permit to come.
        let _slot = self.slots.acquire().await;
        let mut rows = first;
        loop {
            self.store(&person.0, rows).await;
            match self.next(&person) {
                Some(next) => rows = next,
                None => return,
            }
        }
    }

    async fn store(&self, tenant: &TenantId, rows: Vec<Queued>) {
        let turns: Vec<Row<'_>> = rows
            .iter()
            .map(|row| Row {
                tenant,
                turn: &row.turn,
            })
            .collect();
        let answers = append_rows(&self.appender, &turns).await;
        for (row, answer) in rows.into_iter().zip(answers) {
            row.answer(answer);
        }
    }

    /// What came meanwhile. With `None` the user is no longer waited for: under the lock, so that
    /// whatever comes next goes by the writer.
    fn next(&self, person: &Person) -> Option<Vec<Queued>> {
        let mut waiting = self.waiting.lock();
        loop {
            let rows = waiting.get_mut(person)?;
            if rows.is_empty() {
                waiting.remove(person);
                return None;
            }
            let count = rows.len().min(ROWS);
            // A caller that has gone took the turn back.
            let taken: Vec<Queued> = rows.drain(..count).filter(Queued::take).collect();
            if !taken.is_empty() {
                return Some(taken);
            }
        }
    }
}

fn person((tenant, row): &(TenantId, Queued)) -> Person {
    (tenant.clone(), row.turn.user())
}

/// Should a task end by a panic, its user goes by the writer again.
struct Leave<'a>(&'a Aside, &'a Person);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.waiting.lock().remove(self.1);
        }
    }
}
