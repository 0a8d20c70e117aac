//! `GET /admin/tenants/{tenant}/audit/export?op=&since_ms=&until_ms=`

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use throughline_conversation_memory::{AuditEvent, AuditQuery, MemoryError};
use throughline_domain::TenantId;
use throughline_wire::AuditEventAnswer;

use crate::caller::Operator;
use crate::failure::{Failure, chain};
use crate::path::PathTenant;
use crate::query::Query;

/// Entries read at once.
const PAGE: u32 = 500;

/// Where the export stands.
struct Export {
    operator: Operator,
    tenant: TenantId,
    query: AuditQuery,
    /// Read and not sent yet; `None` when all was read.
    page: Option<Vec<AuditEvent>>,
}

/// The whole trail, newest first, one JSON document a line, read as fast as it is taken. It holds what
/// was there when each page was read; nothing is in it twice. An export that ends early is cut off, so
/// that it cannot be taken for a whole one.
pub(crate) async fn export(
    operator: Operator,
    PathTenant(name): PathTenant,
    query: Query,
) -> Result<Response, Failure> {
    let mut export = Export {
        query: super::asked(&query, PAGE)?,
        operator,
        tenant: name,
        page: None,
    };
    // Before the answer begins: a tenant that is not there, and a store that is away, are told as such.
    export.page = Some(export.read().await?);
    let body = Body::from_stream(stream::try_unfold(export, Export::next));
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

impl Export {
    async fn read(&self) -> Result<Vec<AuditEvent>, MemoryError> {
        let audit = self.operator.audit();
        audit.events(&self.tenant, &self.query).await
    }

    /// The lines of a page.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, MemoryError> {
        let Some(page) = self.page.take() else {
            return Ok(None);
        };
        if page.len() == PAGE as usize {
            self.query.before = page.last().map(|event| event.id);
            let read = self.read().await;
            self.page = Some(read.inspect_err(|error| {
                let cause = chain(error);
                tracing::error!(cause, "an export of the audit trail was cut off");
            })?);
        }
        let mut lines = Vec::new();
        for event in page {
            let line = serde_json::to_vec(&AuditEventAnswer::from(event));
            lines.extend(line.expect("ids, numbers and words have a JSON form"));
            lines.push(b'\n');
        }
        Ok(Some((lines.into(), self)))
    }
}
