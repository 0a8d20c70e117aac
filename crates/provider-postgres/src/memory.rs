//! `ConversationMemory` on PostgreSQL.

mod append;
mod clear;
mod history;
mod raw_reads;
mod read_version;
mod recent;
pub(crate) mod turn;
mod usage;

use async_trait::async_trait;
use throughline_conversation_memory::{
    AppendError, Appended, ChannelScope, ConversationMemory, Limit, MemoryError, NewTurn,
    ReadVersion, RecentPage, RecentQuery, Turn, Usage,
};
use throughline_domain::{TenantId, UserId};

use crate::statement::{ForTenant, ForTenants};
use crate::store::PostgresStore;

#[cfg(test)]
pub(crate) use self::append::append_in;
pub(crate) use self::append::{
    Answer, Appender, BYTES, ROWS, Row, append as append_rows, append_free as append_free_rows,
};

pub(crate) use self::clear::EXISTS;
pub(crate) use self::read_version::Versions;

pub(crate) static FOR_TENANT: &[&ForTenant] = &[
    &read_version::READ_VERSION,
    &recent::RECENT,
    &recent::RECENT_RAW,
    &history::HISTORY,
    &clear::CLEAR,
    &clear::EXISTS,
    &usage::USAGE,
];

pub(crate) static FOR_TENANTS: [&[&ForTenants]; 2] =
    [append::STATEMENTS, &[&read_version::READ_VERSIONS]];

#[async_trait]
impl ConversationMemory for PostgresStore {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        if let Some(writer) = &self.writer {
            return writer.append(tenant, turns).await;
        }
        let rows: Vec<Row<'_>> = turns.iter().map(|turn| Row { tenant, turn }).collect();
        append_rows(&self.appender, &rows).await
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        recent::recent(self, tenant, user, query).await
    }

    async fn read_version(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Option<ReadVersion>, MemoryError> {
        read_version::read_version(self, tenant, user).await
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        history::history(self, tenant, scope, limit).await
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        clear::clear(self, tenant, scope).await
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        usage::usage(self, tenant, user).await
    }
}
