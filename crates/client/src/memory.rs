//! [`ConversationMemory`] over HTTP.

mod append;
mod append_error;
mod batch;
mod body;
mod recent;
mod turn;

use async_trait::async_trait;
use http::Method;
use throughline_conversation_memory::{
    AppendError, Appended, ChannelScope, ConversationMemory, Limit, MemoryError, NewTurn,
    RecentPage, RecentQuery, Turn, Usage,
};
use throughline_domain::{TenantId, UserId};
use throughline_wire::{Code, HistoryAnswer, UserAnswer, paths};

use crate::call::Call;
use crate::client::Client;
use crate::error::memory_error;
use crate::query::Query;
use crate::retry::Failed;

pub(crate) use append_error::append_error;
pub(crate) use body::append_body;

/// The service scans what it is sent by the tenant's own rules: a scan result that a turn carries does not
/// go over the wire. Times go in milliseconds: what is finer in `said_at` is cut.
#[async_trait]
impl ConversationMemory for Client {
    /// One turn; see [`append_batch`](Self::append_batch).
    async fn append(&self, tenant: &TenantId, turn: NewTurn) -> Result<Appended, AppendError> {
        append::append(self, tenant, &turn, self.deadline()).await
    }

    /// In as many requests as their bytes need, one after the other, within one deadline; one that fails does
    /// not keep the next from being sent, so its turns get their places later. A request whose
    /// answer was lost is repeated with the same keys, so its turns may be answered as duplicates of
    /// themselves.
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        batch::append_batch(self, tenant, &turns).await
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        recent::recent(self, tenant, user, query).await
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        let path = of_scope(tenant, scope).with("limit", &limit.get().to_string());
        let call = Call::get(tenant, path.path());
        let read = async {
            let answer = self.send(&call, self.deadline()).await?;
            let page: HistoryAnswer = answer.read()?;
            let turns: Result<Vec<Turn>, _> = page.turns.into_iter().map(turn::turn).collect();
            turns.map_err(|fault| answer.unreadable(fault).into())
        };
        let read: Result<_, Failed> = read.await;
        read.map_err(|failed| memory_error(failed.error, tenant))
    }

    /// Not repeated once it may have been done: a clearing that came later would hide more turns.
    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        let call = Call::change(tenant, Method::DELETE, of_scope(tenant, scope).path());
        let done = self.send(&call, self.deadline()).await;
        let done = done.map_err(|failed| failed.error);
        done.and_then(|answer| answer.expect_empty())
            .map_err(|error| memory_error(error, tenant))
    }

    /// Needs a key with `identity:resolve`: the counters stand beside the user.
    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        match self.user_answer(tenant, user).await {
            Ok(Some(answer)) => Ok(Usage {
                turn_count: answer.turn_count,
                byte_count: answer.byte_count,
            }),
            Ok(None) => Ok(Usage::default()),
            Err(failed) => Err(memory_error(failed.error, tenant)),
        }
    }
}

impl Client {
    /// The user's own resource; `None` for nobody.
    pub(crate) async fn user_answer(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Option<UserAnswer>, Failed> {
        let path = paths::fill(paths::USER, tenant, &[("user_id", &user.to_string())]);
        match self.send(&Call::get(tenant, path), self.deadline()).await {
            Ok(answer) => Ok(Some(answer.read()?)),
            Err(failed) if failed.error.code() == Some(Code::UnknownUser) => Ok(None),
            Err(failed) => Err(failed),
        }
    }
}

fn of_scope(tenant: &TenantId, scope: &ChannelScope) -> Query {
    Query::of(paths::fill(paths::HISTORY, tenant, &[]))
        .with("channel_kind", scope.kind().as_str())
        .with("channel_scope", scope.id())
}
