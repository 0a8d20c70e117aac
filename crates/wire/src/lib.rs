//! The words of the HTTP surface, version 1: paths, JSON bodies, problem codes and cursors.
//!
//! Belongs here: every shape that crosses the wire, how a body becomes a checked value of a capability,
//! and what a refusal says. Does not belong here: axum, headers, who may call, a store.

mod admin;
mod append;
mod audit;
mod batch;
mod claim;
mod code;
mod cursor;
mod decode;
mod erasure;
mod fault;
pub mod headers;
mod identity;
mod jobs;
mod merge;
mod objects;
mod outbox;
pub mod paths;
mod problem;
mod read;
mod refusal;
mod reserved;

pub use admin::{
    ConfigureTenantBody, CreateTenantBody, KeyAnswer, KeysAnswer, MintKeyBody, MintOperatorKeyBody,
    MintedKeyAnswer, TenantAnswer, TenantsAnswer, merge_config,
};
pub use append::{AppendAnswer, AppendBody, Author, CheckedAppend, KeySource, TurnText};
pub use audit::{AuditAnswer, AuditEventAnswer};
pub use batch::{BatchAnswer, BatchBody, BatchReply, BatchResult, batch_replies};
pub use claim::{ClaimBody, RevokedClaimAnswer};
pub use code::{ALL_CODES, Code, UnknownCode};
pub use cursor::{AuditCursor, Cursor, EntryCursor, Filters, InvalidCursor, NameCursor};
pub use decode::{from_json, from_json_with_source};
pub use erasure::ReceiptAnswer;
pub use fault::{
    Place, append_problem, channel_user_problem, key_problem, name_problem, queue_problem,
    text_problem, turn_problem,
};
pub use identity::{IdentityBody, LookupAnswer, RefBody, ResolveAnswer, ResolveBody, UserAnswer};
pub use jobs::{JobDoneBody, JobRunAnswer};
pub use merge::{
    DecisionBody, MergeAnswer, MergeBody, MergesAnswer, ProposedAnswer, ReviewAnswer,
    ReviewsAnswer, UndoneAnswer,
};
pub use outbox::{OutboxAnswer, OutboxEntryAnswer, OutboxRunAnswer, QueuedAnswer};
pub use problem::{Members, Outcome, Problem};
pub use read::{ContextAnswer, HistoryAnswer, RecentAnswer, TurnBody};
pub use refusal::Refusal;
pub use reserved::{RESERVED, is_reserved};
