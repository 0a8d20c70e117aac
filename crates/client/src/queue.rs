//! [`AppendQueue`] over HTTP: the service keeps an append that its store could not take.

use async_trait::async_trait;
use throughline_conversation_memory::{
    AppendQueue, Cause, NotKept, QueuedAppend, QueuedAuthor, TurnDraft,
};
use throughline_domain::{Json, JsonFault, TenantId};
use throughline_wire::{AppendBody, Code, QueuedAnswer, paths};
use tokio::time::Instant;

use crate::Effect;
use crate::call::Call;
use crate::client::Client;
use crate::memory::append_body;
use crate::retry::Failed;

/// An append that the service refuses for good, for its content or because its time is over, is
/// [`NotKept::Unavailable`] that was not kept, with the refusal as its cause: the trait has no other word.
#[async_trait]
impl AppendQueue for Client {
    /// One request each, in order, within one deadline.
    async fn keep(
        &self,
        tenant: &TenantId,
        appends: Vec<QueuedAppend>,
    ) -> Vec<Result<(), NotKept>> {
        let by = self.deadline();
        let mut answers = Vec::with_capacity(appends.len());
        for append in &appends {
            answers.push(keep(self, tenant, append, by).await);
        }
        answers
    }
}

async fn keep(
    client: &Client,
    tenant: &TenantId,
    append: &QueuedAppend,
    by: Instant,
) -> Result<(), NotKept> {
    let body = body(append).map_err(|fault| NotKept::Unavailable {
        perhaps_kept: false,
        cause: Cause::new(fault),
    })?;
    let call = Call::idempotent(tenant, paths::fill(paths::OUTBOX, tenant, &[]), &body);
    let kept = async {
        let answer = client.send(&call, by).await?;
        let queued: QueuedAnswer = answer.read()?;
        let ours = queued.client_message_id == append.turn().key().as_str();
        if answer.status == 202 && queued.queued && ours {
            Ok(())
        } else {
            Err(Failed::from(
                answer.unreadable("a queued turn was expected"),
            ))
        }
    };
    kept.await.map_err(|failed| not_kept(tenant, failed))
}

/// A queued append carries when it arrived. A turn that did not say itself when it was said is sent
/// without: the service knows a direct append of it again only by the same words.
fn body(append: &QueuedAppend) -> Result<AppendBody, JsonFault> {
    let turn = append.turn();
    let mut body = append_body(turn)?;
    let undated = TurnDraft {
        key: turn.key().clone(),
        user: turn.user(),
        scope: turn.scope().clone(),
        canvas: turn.canvas().cloned(),
        said_at: None,
        user_message: turn.user_message().to_owned(),
        assistant_answer: turn.assistant_answer().to_owned(),
        tool_calls: turn.tool_calls().map(Json::to_value).transpose()?,
        metadata: Some(turn.metadata().to_value()?),
    };
    if undated
        .validate()
        .is_ok_and(|undated| undated.digest() == turn.digest())
    {
        body.turn.timestamp_ms = None;
    }
    match append.author() {
        QueuedAuthor::User(user) => body.user_id = Some(user.to_string()),
        QueuedAuthor::Ref(author) => body.r#ref = Some(author.clone().into()),
    }
    Ok(body)
}

fn not_kept(tenant: &TenantId, failed: Failed) -> NotKept {
    match failed.error.code() {
        Some(Code::UnknownTenant) => NotKept::UnknownTenant(tenant.clone()),
        Some(Code::Gone) => NotKept::Gone,
        Some(Code::IdempotencyMismatch) => NotKept::KeyConflict,
        Some(Code::DeadLetter) => NotKept::DeadLetter,
        _ => NotKept::Unavailable {
            perhaps_kept: failed.effect == Effect::Unknown,
            cause: Cause::new(failed.error),
        },
    }
}
