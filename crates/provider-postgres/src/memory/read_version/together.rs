//! Questions that come while another one is being answered share the next statement. Nobody lingers for
//! more to come, and one that comes alone is asked alone (docs/adr/0042).

use std::sync::Arc;

use parking_lot::Mutex;
use throughline_conversation_memory::{Cause, MemoryError, ReadVersion};
use throughline_domain::{TenantId, UserId};
use tokio::sync::oneshot;
use tokio_postgres::types::Type;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::{ask, version};
use crate::error::{Shared, StoreError};
use crate::row::{Reader, uuid};
use crate::session::Sessions;
use crate::statement::{ForTenants, Statement};

pub(in crate::memory) static READ_VERSIONS: ForTenants = ForTenants(Statement {
    name: "read_versions",
    sql: include_str!("../read_versions.sql"),
    params: &[Type::TEXT_ARRAY, Type::UUID_ARRAY],
});

/// In one statement at most: what it takes is then still far below a millisecond.
const MOST: usize = 256;

type Answer = Result<Option<ReadVersion>, MemoryError>;

/// Where versions are asked for.
pub(crate) struct Versions {
    sessions: Sessions,
    state: Mutex<State>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct State {
    waiting: Vec<Question>,
    /// A task asks what waits.
    working: bool,
    /// A caller asks for itself.
    alone: bool,
}

struct Question {
    tenant: TenantId,
    user: UserId,
    answer: oneshot::Sender<Answer>,
}

/// How a question is answered.
enum Way<'a> {
    Alone(Alone<'a>),
    Together(oneshot::Receiver<Answer>),
}

/// Gives the place up when its caller has its answer, or goes away.
struct Alone<'a>(&'a Versions);

impl Versions {
    pub(crate) fn new(sessions: Sessions) -> Self {
        Self {
            sessions,
            state: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// As they are at a moment after the call.
    pub(super) async fn ask(self: &Arc<Self>, tenant: &TenantId, user: UserId) -> Answer {
        match self.way(tenant, user) {
            Way::Alone(_place) => ask(&self.sessions, tenant, user).await,
            Way::Together(answer) => answer.await.unwrap_or_else(|_| {
                let why = "whoever asked for many went away; ask again";
                Err(MemoryError::Unavailable(Cause::text(why)))
            }),
        }
    }

    /// Returns when nobody waits for an answer any more.
    pub(crate) async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn way(self: &Arc<Self>, tenant: &TenantId, user: UserId) -> Way<'_> {
        let mut state = self.state.lock();
        if !state.alone && !state.working {
            state.alone = true;
            return Way::Alone(Alone(self));
        }
        let (answer, receiver) = oneshot::channel();
        state.waiting.push(Question {
            tenant: tenant.clone(),
            user,
            answer,
        });
        if !state.working {
            state.working = true;
            self.tasks.spawn(self.clone().work());
        }
        Way::Together(receiver)
    }

    async fn work(self: Arc<Self>) {
        let _at_work = AtWork(&self);
        while let Some(questions) = self.next() {
            self.answer(questions).await;
        }
    }

    /// What is asked next; with `None` the work has ended.
    fn next(&self) -> Option<Vec<Question>> {
        let mut state = self.state.lock();
        state
            .waiting
            .retain(|question| !question.answer.is_closed());
        let asked = state.waiting.len().min(MOST);
        // Under the lock: whoever asks next begins the work again.
        state.working = asked > 0;
        (asked > 0).then(|| state.waiting.drain(..asked).collect())
    }

    async fn answer(&self, questions: Vec<Question>) {
        match self.find(&questions).await {
            Ok(found) => {
                for (question, answer) in questions.into_iter().zip(found) {
                    // A caller may have gone away.
                    let _ = question.answer.send(answer.map_err(StoreError::memory));
                }
            }
            Err(error) => {
                let shared = Shared(Arc::new(error));
                for question in questions {
                    let error = MemoryError::Unavailable(Cause::new(shared.clone()));
                    let _ = question.answer.send(Err(error));
                }
            }
        }
    }

    /// An answer a question; a row that cannot be read is the answer to its own question alone.
    async fn find(
        &self,
        questions: &[Question],
    ) -> Result<Vec<Result<Option<ReadVersion>, StoreError>>, StoreError> {
        let tenants: Vec<&str> = questions.iter().map(|of| of.tenant.as_str()).collect();
        let users: Vec<Uuid> = questions.iter().map(|of| uuid(of.user.as_u128())).collect();
        let session = self.sessions.session().await?;
        let rows = session
            .query_rows(&READ_VERSIONS, &tenants, &[&users])
            .await?;
        let mut found: Vec<_> = questions.iter().map(|_| Ok(None)).collect();
        for row in rows {
            let place = Reader::of(&row, "users").number("place")?;
            let place = usize::try_from(place)
                .ok()
                .and_then(|place| place.checked_sub(1));
            if let Some(answer) = place.and_then(|place| found.get_mut(place)) {
                *answer = version(&row);
            }
        }
        Ok(found)
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.state.lock().alone = false;
    }
}

/// Should the work end by a panic, those who wait are told so, and the next question begins it again.
struct AtWork<'a>(&'a Versions);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.state.lock();
            state.working = false;
            state.waiting.clear();
        }
    }
}
