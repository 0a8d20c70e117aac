//! Which masked pages may be remembered (docs/adr/0042).

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    AppendError, Appended, ChannelScope, ConversationMemory, Freshness, Limit, MemoryError,
    NewTurn, ReadVersion, RecentPage, RecentQuery, Redaction, Turn, Usage,
};
use throughline_domain::{Json, TenantId, Timestamp, UserId};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::RedactedMemory;
use throughline_tenancy::{MaskLook, Tenancy as _};

use crate::subject::{Redacted, deferred};

/// A store that tells what its pages were read at.
struct Versioned(Arc<InMemoryStore>);

#[async_trait]
impl ConversationMemory for Versioned {
    async fn append_batch(
        &self,
        tenant: &TenantId,
        turns: Vec<NewTurn>,
    ) -> Vec<Result<Appended, AppendError>> {
        self.0.append_batch(tenant, turns).await
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        user: UserId,
        query: &RecentQuery,
    ) -> Result<RecentPage, MemoryError> {
        let page = self.0.recent(tenant, user, query).await?;
        let version = self.read_version(tenant, user).await?;
        let until = Timestamp::from_micros(i64::MAX);
        let fresh = version.map(|version| Freshness { version, until });
        Ok(RecentPage { fresh, ..page })
    }

    async fn read_version(
        &self,
        tenant: &TenantId,
        user: UserId,
    ) -> Result<Option<ReadVersion>, MemoryError> {
        let read = self.0.tenant(tenant).await.expect("reads");
        Ok(read.map(|tenant| ReadVersion {
            user,
            changes: 0,
            rules: tenant.config_revision,
        }))
    }

    async fn history(
        &self,
        tenant: &TenantId,
        scope: &ChannelScope,
        limit: Limit,
    ) -> Result<Vec<Turn>, MemoryError> {
        self.0.history(tenant, scope, limit).await
    }

    async fn clear(&self, tenant: &TenantId, scope: &ChannelScope) -> Result<(), MemoryError> {
        self.0.clear(tenant, scope).await
    }

    async fn usage(&self, tenant: &TenantId, user: UserId) -> Result<Usage, MemoryError> {
        self.0.usage(tenant, user).await
    }
}

/// One masked turn, and the memory over a store that tells versions.
async fn told(findings: &str) -> (Redacted, RedactedMemory, TenantId, UserId) {
    let subject = deferred().await;
    let (acme, mina) = subject.acme_and_mina().await;
    let said = turn(mina, "1").saying("jo@example.com").pending();
    let said = said.with_redaction(Redaction::redacted(1, Json::from_stored(findings)));
    subject.append(&acme, said).await;
    let (store, scanner) = (subject.store.clone(), subject.scanner.clone());
    let inner = Arc::new(Versioned(store.clone()));
    let memory = RedactedMemory::new(inner, store, scanner, [7; 32]);
    (subject, memory, acme, mina)
}

fn found(end: u64) -> String {
    json!({ "v": 1, "content_sha256": "", "scanned_at": 0,
        "detector": { "id": "x", "version": 1, "ruleset_sha256": "", "config_sha256": "" },
        "spans": [{ "field": "user_message", "start": 0, "end": end, "type": "EMAIL",
                    "score": 1.0, "rule_id": "email", "rule_rev": 1 }] })
    .to_string()
}

/// Rules are believed for a second: a page that was masked by those of before a change must not be taken
/// for one of after it.
#[tokio::test]
async fn a_page_is_remembered_under_the_rules_that_masked_it_alone() {
    let (subject, memory, acme, mina) = told(&found(14)).await;
    let read = async || {
        let query = RecentQuery::default();
        let page = memory.recent(&acme, mina, &query).await.unwrap();
        (page.turns[0].user_message.clone(), page.fresh)
    };
    let version = memory.read_version(&acme, mina).await.unwrap();
    let (text, fresh) = read().await;
    assert_eq!(text, "[EMAIL]");
    assert_eq!(fresh.map(|fresh| fresh.version), version);
    let mut rules = subject.store.tenant(&acme).await.unwrap().unwrap().config;
    rules.mask_style = MaskLook::SameLength;
    subject.store.configure(&acme, rules, None).await.unwrap();
    // On a slow machine the new rules may be known by now.
    let (text, fresh) = read().await;
    assert_eq!(fresh.is_some(), text == "*".repeat(14), "{text} {fresh:?}");
}

#[tokio::test]
async fn a_page_that_left_out_what_it_could_not_mask_is_not_remembered() {
    let (_subject, memory, acme, mina) = told(&found(99)).await;
    let page = memory.recent(&acme, mina, &RecentQuery::default()).await;
    let page = page.unwrap();
    assert_eq!((page.pending_excluded, page.fresh), (1, None));
}
