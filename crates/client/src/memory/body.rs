//! A turn as the body of an append.

use throughline_conversation_memory::NewTurn;
use throughline_domain::{Json, JsonFault};
use throughline_wire::{AppendBody, TurnText};

/// Everything but the author. Sent again it is the same body, byte for byte, so that the service knows it.
pub(crate) fn append_body(turn: &NewTurn) -> Result<AppendBody, JsonFault> {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Ok(AppendBody {
        client_message_id: Some(turn.key().as_str().to_owned()),
        turn_id: None,
        user_id: None,
        r#ref: None,
        channel_kind: turn.scope().kind().as_str().to_owned(),
        channel_scope: turn.scope().id().to_owned(),
        canvas_session_id: turn.canvas().map(|canvas| canvas.as_str().to_owned()),
        turn: TurnText {
            user_message: text(turn.user_message()),
            assistant_answer: text(turn.assistant_answer()),
            timestamp_ms: turn.said_at().map(throughline_domain::Timestamp::as_millis),
        },
        tool_calls: turn.tool_calls().map(Json::to_value).transpose()?,
        metadata: Some(turn.metadata().to_value()?),
    })
}
