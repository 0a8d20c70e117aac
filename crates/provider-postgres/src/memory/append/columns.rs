//! Rows as the arrays of one insert.

use std::collections::BTreeSet;
use std::time::SystemTime;

use throughline_conversation_memory::{CanvasSessionId, NewTurn};
use throughline_domain::{Json, Timestamp, TurnId, UserId};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::Row;
use super::decide::{Accepted, Decision};
use crate::error::StoreError;
use crate::row::{bigint, uuid};
use crate::session::{Param, Session};
use crate::statement::{ForTenants, Statement};

/// `$1` to `$21` of every statement that inserts turns.
macro_rules! with_turn_types {
    ($($more:ident),*) => {
        &[
            Type::TEXT_ARRAY,
            Type::UUID_ARRAY,
            Type::UUID_ARRAY,
            Type::TEXT_ARRAY,
            Type::BYTEA_ARRAY,
            Type::TEXT_ARRAY,
            Type::TEXT_ARRAY,
            Type::TEXT_ARRAY,
            Type::TEXT_ARRAY,
            Type::TEXT_ARRAY,
            Type::INT4_ARRAY,
            Type::INT4_ARRAY,
            Type::INT4_ARRAY,
            Type::TEXT_ARRAY,
            Type::TEXT_ARRAY,
            Type::TEXT_ARRAY,
            Type::TEXT_ARRAY,
            Type::INT4_ARRAY,
            Type::TEXT_ARRAY,
            Type::TIMESTAMPTZ_ARRAY,
            Type::TIMESTAMPTZ,
            $(Type::$more),*
        ]
    };
}
pub(super) use with_turn_types;

pub(super) static STORE: ForTenants = ForTenants(Statement {
    name: "append_store",
    sql: include_str!("append_store.sql"),
    params: with_turn_types![INT8_ARRAY, UUID_ARRAY, TIMESTAMPTZ_ARRAY],
});

/// One array a column, as far as the turn itself says it.
#[derive(Default)]
pub(super) struct TurnColumns<'a> {
    pub(super) tenants: Vec<&'a str>,
    ids: Vec<Uuid>,
    users: Vec<Uuid>,
    keys: Vec<&'a str>,
    digests: Vec<Vec<u8>>,
    kinds: Vec<&'a str>,
    scopes: Vec<&'a str>,
    canvases: Vec<Option<&'a str>>,
    user_messages: Vec<&'a str>,
    answers: Vec<&'a str>,
    user_message_bytes: Vec<i32>,
    assistant_bytes: Vec<i32>,
    aux_bytes: Vec<i32>,
    tool_calls: Vec<Option<&'a str>>,
    metadata: Vec<&'a str>,
    redaction_states: Vec<&'a str>,
    findings: Vec<Option<&'a str>>,
    detector_versions: Vec<Option<i32>>,
    forms: Vec<&'a str>,
    created_at: Vec<SystemTime>,
}

impl<'a> TurnColumns<'a> {
    pub(super) fn push(&mut self, row: Row<'a>, id: TurnId, user: UserId, created_at: Timestamp) {
        let turn: &'a NewTurn = row.turn;
        self.tenants.push(row.tenant.as_str());
        self.ids.push(uuid(id.as_u128()));
        self.users.push(uuid(user.as_u128()));
        self.keys.push(turn.key().as_str());
        self.digests.push(turn.digest().as_bytes().to_vec());
        self.kinds.push(turn.scope().kind().as_str());
        self.scopes.push(turn.scope().id());
        self.canvases
            .push(turn.canvas().map(CanvasSessionId::as_str));
        self.user_messages.push(turn.user_message());
        self.answers.push(turn.assistant_answer());
        self.user_message_bytes
            .push(integer(turn.user_message_bytes()));
        self.assistant_bytes.push(integer(turn.assistant_bytes()));
        self.aux_bytes.push(integer(turn.aux_bytes()));
        self.tool_calls.push(turn.tool_calls().map(Json::as_str));
        self.metadata.push(turn.metadata().as_str());
        self.redaction_states
            .push(turn.redaction().state().as_str());
        self.findings
            .push(turn.redaction().findings().map(Json::as_str));
        self.detector_versions
            .push(turn.redaction().detector_version().map(u32::cast_signed));
        self.forms.push(turn.form().as_str());
        self.created_at.push(created_at.to_system_time());
    }

    /// Sends an insert: these columns, the time, and what the statement takes besides.
    pub(super) async fn send(
        &self,
        session: &Session<'_>,
        statement: &'static ForTenants,
        now: &SystemTime,
        more: &[Param<'_>],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let mut params: Vec<Param<'_>> = vec![
            &self.ids,
            &self.users,
            &self.keys,
            &self.digests,
            &self.kinds,
            &self.scopes,
            &self.canvases,
            &self.user_messages,
            &self.answers,
            &self.user_message_bytes,
            &self.assistant_bytes,
            &self.aux_bytes,
            &self.tool_calls,
            &self.metadata,
            &self.redaction_states,
            &self.findings,
            &self.detector_versions,
            &self.forms,
            &self.created_at,
            now,
        ];
        params.extend(more);
        session.query_rows(statement, &self.tenants, &params).await
    }
}

/// The accepted rows.
#[derive(Default)]
pub(super) struct Columns<'a> {
    turns: TurnColumns<'a>,
    seqs: Vec<i64>,
    origins: Vec<Uuid>,
    expires_at: Vec<SystemTime>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(decided: &[Decision<'a>]) -> Self {
        let mut columns = Self::default();
        for decision in decided {
            if let Decision::Store(accepted) = decision {
                columns.push(accepted);
            }
        }
        columns
    }

    fn push(&mut self, accepted: &Accepted<'a>) {
        let row = accepted.row;
        self.turns
            .push(row, accepted.id, accepted.user, accepted.created_at);
        self.seqs.push(bigint(accepted.seq));
        self.origins.push(uuid(row.turn.user().as_u128()));
        self.expires_at.push(accepted.expires_at.to_system_time());
    }

    /// Sends the insert; the answer is the ids that went in.
    pub(super) async fn store(
        &self,
        session: &Session<'_>,
        now: SystemTime,
    ) -> Result<BTreeSet<Uuid>, StoreError> {
        let more: &[Param<'_>] = &[&self.seqs, &self.origins, &self.expires_at];
        let rows = self.turns.send(session, &STORE, &now, more).await?;
        Ok(rows
            .iter()
            .filter_map(|row| row.try_get("id").ok())
            .collect())
    }
}

/// The field limits keep every size far below.
fn integer(bytes: u64) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}
