//! Stored turns out of rows.

use throughline_conversation_memory::{
    CanvasSessionId, ChannelKind, ChannelScope, ContentForm, Redaction, RedactionState, Turn,
};
use throughline_domain::{Json, TurnId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::Reader;

/// The turns in the order of their rows; a row without an id is that of a tenant without turns.
pub(crate) fn turns(rows: &[Row]) -> Result<Vec<Turn>, StoreError> {
    let mut turns = Vec::with_capacity(rows.len());
    for row in rows {
        let row = Reader::of(row, "cross_channel_messages");
        if let Some(id) = row.get::<Option<Uuid>>("id")? {
            let id = TurnId::from_u128(id.as_u128());
            turns.push(turn(id, &row.keyed(&id))?);
        }
    }
    Ok(turns)
}

fn turn(id: TurnId, row: &Reader<'_>) -> Result<Turn, StoreError> {
    let kind = row.parsed("channel_kind", |word| ChannelKind::parse(word).ok())?;
    let canvas = match row.get::<Option<&str>>("canvas_session_id")? {
        Some(id) => Some(CanvasSessionId::parse(id).map_err(|_| row.corrupt("canvas_session_id"))?),
        None => None,
    };
    Ok(Turn {
        id,
        seq: row.number("seq")?,
        user_id: row.user("user_id")?,
        scope: row.parsed("channel_scope", |id| ChannelScope::new(kind, id).ok())?,
        canvas,
        user_message: row.get("user_message")?,
        assistant_answer: row.get("assistant_answer")?,
        tool_calls: row
            .get::<Option<&str>>("tool_calls")?
            .map(Json::from_stored),
        metadata: Json::from_stored(row.get("metadata")?),
        created_at: row.time("created_at")?,
        redaction: Redaction::from_stored(
            row.parsed("redaction_state", RedactionState::parse)?,
            row.get::<Option<i32>>("detector_version")?
                .map(i32::cast_unsigned),
            row.get::<Option<&str>>("redaction_metadata")?
                .map(Json::from_stored),
        ),
        form: row.parsed("content_form", ContentForm::parse)?,
    })
}
