//! What a route takes and answers, as far as its types do not say it.

use axum::http::Method;
use serde_json::{Map, Value};
use throughline_wire::{
    AppendAnswer, AppendBody, AuditAnswer, AuditEventAnswer, BatchAnswer, BatchBody, ClaimBody,
    ConfigureTenantBody, ContextAnswer, CreateTenantBody, DecisionBody, HistoryAnswer,
    JobRunAnswer, KeyAnswer, KeysAnswer, LookupAnswer, MergeAnswer, MergeBody, MergesAnswer,
    MintKeyBody, MintOperatorKeyBody, MintedKeyAnswer, OutboxAnswer, OutboxEntryAnswer,
    ProposedAnswer, QueuedAnswer, ReceiptAnswer, RecentAnswer, ResolveAnswer, ResolveBody,
    ReviewAnswer, ReviewsAnswer, RevokedClaimAnswer, TenantAnswer, TenantsAnswer, UndoneAnswer,
    UserAnswer, paths,
};
use utoipa::ToSchema;

/// Adds a type's schema to the document.
pub(super) type AddSchema = fn(&mut Map<String, Value>);

/// What goes over the wire.
pub(super) enum Body {
    /// A type of the wire.
    Json(String, AddSchema),
    /// One document of a type of the wire a line.
    Lines(String, AddSchema),
    /// A small object without a type.
    Status,
    /// Text.
    Text,
}

/// Name, JSON type, whether it must be there.
pub(super) type Parameter = (&'static str, &'static str, bool);

pub(super) struct Operation {
    pub(super) summary: &'static str,
    pub(super) query: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) answers: Vec<(u16, &'static str, Option<Body>)>,
}

impl Operation {
    pub(super) fn schemas(&self) -> impl Iterator<Item = AddSchema> {
        let answers = self.answers.iter().filter_map(|(_, _, body)| body.as_ref());
        self.body
            .iter()
            .chain(answers)
            .filter_map(|body| match body {
                Body::Json(_, add) | Body::Lines(_, add) => Some(*add),
                Body::Status | Body::Text => None,
            })
    }

    fn taking<T: ToSchema>(mut self) -> Self {
        self.body = Some(Body::of::<T>());
        self
    }

    fn asking(mut self, query: &[Parameter]) -> Self {
        self.query = query.to_vec();
        self
    }

    fn or(mut self, status: u16, description: &'static str, body: Option<Body>) -> Self {
        self.answers.push((status, description, body));
        self
    }
}

fn plain(summary: &'static str) -> Operation {
    Operation {
        summary,
        query: Vec::new(),
        body: None,
        answers: Vec::new(),
    }
}

fn answering<T: ToSchema>(summary: &'static str) -> Operation {
    plain(summary).or(200, "Done.", Some(Body::of::<T>()))
}

fn making<T: ToSchema>(summary: &'static str) -> Operation {
    plain(summary).or(201, "Made.", Some(Body::of::<T>()))
}

const LIMIT: Parameter = ("limit", "integer", false);
const CURSOR: Parameter = ("cursor", "string", false);
const EXCLUDE: Parameter = ("exclude_canvas_session_id", "string", false);
const KIND: Parameter = ("channel_kind", "string", true);
const ON_UNAVAILABLE: Parameter = ("on_unavailable", "string", false);
const OP: Parameter = ("op", "string", false);
const SINCE: Parameter = ("since_ms", "integer", false);
const UNTIL: Parameter = ("until_ms", "integer", false);
const SCOPE: Parameter = ("channel_scope", "string", true);

/// The route's description. A route that is not named here gets an empty one, and a test fails.
pub(super) fn of(method: &Method, path: &str) -> Operation {
    match (method.as_str(), path) {
        ("POST", paths::RESOLVE) => {
            answering::<ResolveAnswer>("Resolve a channel user").taking::<ResolveBody>()
        }
        ("GET", paths::IDENTITIES) => answering::<LookupAnswer>("Look a channel user up")
            .asking(&[("kind", "string", true), ("id", "string", true)]),
        ("GET", paths::USER) => answering::<UserAnswer>("One user with identities and counters"),
        ("DELETE", paths::USER) => answering::<ReceiptAnswer>("Erase a person, with a receipt")
            .asking(&[("dry_run", "boolean", false)]),
        ("POST", paths::MERGES) => making::<MergeAnswer>("Make two users one")
            .or(
                202,
                "An operator is asked.",
                Some(Body::of::<ProposedAnswer>()),
            )
            .taking::<MergeBody>(),
        ("GET", paths::MERGES) => answering::<MergesAnswer>("The merges of a person")
            .asking(&[("user_id", "string", true)]),
        ("DELETE", paths::MERGE) => answering::<UndoneAnswer>("Take a merge back"),
        ("GET", paths::RECENT) => {
            answering::<RecentAnswer>("A user's turns, newest first").asking(&[
                LIMIT,
                SINCE,
                UNTIL,
                EXCLUDE,
                ("channel_kinds", "string", false),
                CURSOR,
                ("include_raw", "boolean", false),
            ])
        }
        ("GET", paths::CONTEXT) => answering::<ContextAnswer>("The block for a prompt")
            .asking(&[EXCLUDE, ("max_bytes", "integer", false)]),
        ("POST", paths::TURNS) => making::<AppendAnswer>("Append a finished turn")
            .or(
                200,
                "Stored earlier, or stored with a warning.",
                Some(Body::of::<AppendAnswer>()),
            )
            .or(202, "Queued.", Some(Body::of::<QueuedAnswer>()))
            .taking::<AppendBody>()
            .asking(&[ON_UNAVAILABLE]),
        ("POST", paths::BATCH) => answering::<BatchAnswer>("Append up to 500 turns")
            .taking::<BatchBody>()
            .asking(&[ON_UNAVAILABLE]),
        ("POST", paths::OUTBOX) => plain("Queue a finished turn")
            .or(202, "Queued.", Some(Body::of::<QueuedAnswer>()))
            .taking::<AppendBody>(),
        ("GET", paths::HISTORY) => answering::<HistoryAnswer>("One channel scope, oldest first")
            .asking(&[KIND, SCOPE, LIMIT]),
        ("DELETE", paths::HISTORY) => plain("Let later reads of a scope start here")
            .asking(&[KIND, SCOPE])
            .or(204, "Done.", None),
        (method, path) => admin(method, path).unwrap_or_else(|| operation(method, path)),
    }
}

fn admin(method: &str, path: &str) -> Option<Operation> {
    let operation = match (method, path) {
        ("POST", paths::ADMIN_TENANTS) => {
            making::<TenantAnswer>("Make a tenant").taking::<CreateTenantBody>()
        }
        ("GET", paths::ADMIN_TENANTS) => {
            answering::<TenantsAnswer>("Tenants by name").asking(&[LIMIT, CURSOR])
        }
        ("GET", paths::ADMIN_TENANT) => answering::<TenantAnswer>("One tenant"),
        ("PUT", paths::ADMIN_TENANT) => {
            answering::<TenantAnswer>("Replace the configuration").taking::<ConfigureTenantBody>()
        }
        ("PATCH", paths::ADMIN_TENANT) => {
            answering::<TenantAnswer>("Change values, suspend or resume")
                .taking::<ConfigureTenantBody>()
        }
        ("POST", paths::ADMIN_KEYS) => {
            making::<MintedKeyAnswer>("Make a key of a tenant").taking::<MintKeyBody>()
        }
        ("GET", paths::ADMIN_KEYS) => answering::<KeysAnswer>("A tenant's keys"),
        ("DELETE", paths::ADMIN_KEY) => answering::<KeyAnswer>("Revoke a tenant's key"),
        ("GET", paths::ADMIN_OUTBOX) => answering::<OutboxAnswer>("Dead letters, or what waits")
            .asking(&[("state", "string", false), LIMIT, CURSOR]),
        ("POST", paths::ADMIN_OUTBOX_REQUEUE) => {
            answering::<OutboxEntryAnswer>("Put a dead letter back in line")
        }
        ("DELETE", paths::ADMIN_OUTBOX_ENTRY) => {
            answering::<OutboxEntryAnswer>("Throw a dead letter away")
        }
        ("GET", paths::ADMIN_REVIEWS) => answering::<ReviewsAnswer>("Questions to operators")
            .asking(&[("state", "string", false), LIMIT, CURSOR]),
        ("POST", paths::ADMIN_REVIEW_ACCEPT) => {
            answering::<ReviewAnswer>("They are one person: merge").taking::<DecisionBody>()
        }
        ("POST", paths::ADMIN_REVIEW_DECLINE) => {
            answering::<ReviewAnswer>("They are two people: leave").taking::<DecisionBody>()
        }
        ("GET", paths::ADMIN_AUDIT) => answering::<AuditAnswer>("What was done to people's data")
            .asking(&[OP, SINCE, UNTIL, LIMIT, CURSOR]),
        ("GET", paths::ADMIN_AUDIT_EXPORT) => plain("All of the trail, one document a line")
            .or(
                200,
                "One AuditEventAnswer a line.",
                Some(Body::lines_of::<AuditEventAnswer>()),
            )
            .asking(&[OP, SINCE, UNTIL, CURSOR]),
        ("POST", paths::ADMIN_CLAIM_REVOKE) => {
            answering::<RevokedClaimAnswer>("Take an address out of joining").taking::<ClaimBody>()
        }
        ("POST", paths::ADMIN_JOB_RUN) => answering::<JobRunAnswer>("Run a job now")
            .asking(&[("dry_run", "boolean", false), ("tenant", "string", false)]),
        ("POST", paths::OPERATOR_KEYS) => {
            making::<MintedKeyAnswer>("Make an operator's key").taking::<MintOperatorKeyBody>()
        }
        ("GET", paths::OPERATOR_KEYS) => answering::<KeysAnswer>("The operators' keys"),
        ("DELETE", paths::OPERATOR_KEY) => answering::<KeyAnswer>("Revoke an operator's key"),
        _ => return None,
    };
    Some(operation)
}

fn operation(method: &str, path: &str) -> Operation {
    let status = |summary| plain(summary).or(200, "Yes.", Some(Body::Status));
    match (method, path) {
        ("GET", paths::LIVEZ | paths::HEALTHZ) => status("Whether the process answers"),
        ("GET", paths::READYZ) => status("Whether it can serve"),
        ("GET", paths::OPENAPI) => status("This document"),
        ("GET", paths::METRICS | paths::CCM_METRICS) => {
            plain("Prometheus metrics").or(200, "Prometheus text.", Some(Body::Text))
        }
        _ => plain(""),
    }
}
