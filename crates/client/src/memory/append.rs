//! One append.

use throughline_conversation_memory::{
    AppendError, AppendOutcome, Appended, Cause, ClientMessageId, NewTurn, RedactionState,
    RejectReason,
};
use throughline_domain::TenantId;
use throughline_wire::{AppendAnswer, AppendBody, paths};
use tokio::time::Instant;

use super::{append_body, append_error};
use crate::ClientError;
use crate::call::Call;
use crate::client::Client;
use crate::retry::Failed;

pub(super) async fn append(
    client: &Client,
    tenant: &TenantId,
    turn: &NewTurn,
    by: Instant,
) -> Result<Appended, AppendError> {
    let body = body(turn)?;
    append_prepared(client, tenant, turn.key(), &body, by).await
}

/// The body, with the author; a turn whose JSON is none can be stored by nobody.
pub(super) fn body(turn: &NewTurn) -> Result<AppendBody, AppendError> {
    let body = append_body(turn).map_err(|_| AppendError::Rejected {
        key: turn.key().clone(),
        reason: RejectReason::Unstorable,
    })?;
    Ok(AppendBody {
        user_id: Some(turn.user().to_string()),
        ..body
    })
}

pub(super) async fn append_prepared(
    client: &Client,
    tenant: &TenantId,
    key: &ClientMessageId,
    body: &impl serde::Serialize,
    by: Instant,
) -> Result<Appended, AppendError> {
    let call = Call::idempotent(tenant, paths::fill(paths::TURNS, tenant, &[]), body);
    let sent = async {
        let answer = client.send(&call, by).await?;
        // 202 is a turn that waits: not asked for, and not stored.
        if !matches!(answer.status, 200 | 201) {
            return Err(answer.unreadable("a stored turn was expected").into());
        }
        Ok((answer.status, answer.read::<AppendAnswer>()?))
    };
    let sent: Result<_, Failed> = sent.await;
    let (status, answer) = sent.map_err(|failed| append_error(tenant, key, failed))?;
    appended(key, status, answer)
}

/// What a success says. One without `seq` comes of a store that lost its own answer: the turn is
/// committed (T-14). One about another turn is no success.
pub(super) fn appended(
    key: &ClientMessageId,
    status: u16,
    answer: AppendAnswer,
) -> Result<Appended, AppendError> {
    let unreadable = |what: &'static str| AppendError::Timeout {
        key: key.clone(),
        cause: Cause::new(ClientError::unreadable(status, what)),
    };
    if answer.client_message_id != key.as_str() {
        return Err(unreadable("the answer is about another turn"));
    }
    let (Some(seq), Some(state)) = (answer.seq, answer.redaction_state) else {
        return match answer.warnings.into_iter().next() {
            Some(warning) => Err(AppendError::Committed {
                key: key.clone(),
                turn_id: answer.message_id,
                cause: Cause::new(warning),
            }),
            None => Err(unreadable("seq or redaction_state is missing")),
        };
    };
    let state = RedactionState::parse(&state);
    Ok(Appended {
        outcome: if answer.duplicate {
            AppendOutcome::Duplicate
        } else {
            AppendOutcome::Stored
        },
        turn_id: answer.message_id,
        user_id: answer.user_id,
        seq,
        redaction_state: state.ok_or_else(|| unreadable("redaction_state is not known"))?,
    })
}
