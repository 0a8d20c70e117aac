//! Masks in the place of what was found, on the way out.

use throughline_conversation_memory::{ContentForm, RedactionState, Turn};
use throughline_domain::Json;
use throughline_redaction::{InvalidSpans, MaskPolicy, RedactionMetadata, TurnContent, mask_turn};

/// The turn as a default reader may see it. An error means that what is stored about it does not fit its
/// text: then it counts as not scanned, never as clean (T-33).
pub(crate) fn masked(mut turn: Turn, policy: &MaskPolicy) -> Result<Turn, InvalidSpans> {
    match (turn.redaction.state(), turn.form) {
        (RedactionState::Pending, _) => return Err(InvalidSpans),
        (RedactionState::Clean, _) | (RedactionState::Redacted, ContentForm::Masked) => {}
        (RedactionState::Redacted, ContentForm::Raw) => {
            let findings = turn.redaction.findings().ok_or(InvalidSpans)?;
            let findings: RedactionMetadata =
                serde_json::from_str(findings.as_str()).map_err(|_| InvalidSpans)?;
            let content = TurnContent {
                user_message: &turn.user_message,
                assistant_answer: &turn.assistant_answer,
                tool_calls: turn.tool_calls.as_ref().map(Json::as_str),
                metadata: turn.metadata.as_str(),
            };
            let masked = mask_turn(&content, &findings, policy)?;
            turn.user_message = masked.user_message;
            turn.assistant_answer = masked.assistant_answer;
            turn.tool_calls = masked.tool_calls.as_deref().map(Json::from_stored);
            turn.metadata = Json::from_stored(&masked.metadata);
            turn.form = ContentForm::Masked;
        }
    }
    Ok(turn)
}
