//! A turn as it came over the wire.

use throughline_conversation_memory::{
    CanvasSessionId, ChannelKind, ChannelScope, ContentForm, InvalidName, Redaction,
    RedactionState, Turn,
};
use throughline_domain::Json;
use throughline_wire::TurnBody;

/// The body is no turn that this release knows.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidBody {
    /// Its kind, scope or canvas.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// Its state.
    #[error("redaction_state is not known")]
    State,
}

/// Masks are on already: the state says whether there are any, where they came from does not go over the
/// wire (T-28).
pub(super) fn turn(body: TurnBody) -> Result<Turn, InvalidBody> {
    let kind = ChannelKind::parse(&body.channel_kind)?;
    let state = RedactionState::parse(&body.redaction_state).ok_or(InvalidBody::State)?;
    let canvas = body.canvas_session_id.as_deref();
    Ok(Turn {
        id: body.id,
        seq: body.seq,
        user_id: body.user_id,
        scope: ChannelScope::new(kind, &body.channel_scope)?,
        canvas: canvas.map(CanvasSessionId::parse).transpose()?,
        user_message: body.user_message,
        assistant_answer: body.assistant_answer,
        tool_calls: body.tool_calls.map(|json| Json::from_stored(json.get())),
        metadata: Json::from_stored(body.metadata.get()),
        created_at: body.created_at,
        redaction: Redaction::from_stored(state, None, None),
        form: match state {
            RedactionState::Redacted => ContentForm::Masked,
            RedactionState::Pending | RedactionState::Clean => ContentForm::Raw,
        },
    })
}
