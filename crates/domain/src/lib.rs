//! The words every other crate shares: who (tenants, users, actors), which (ids), when (timestamps
//! and the injected clock) and what may be stored (checked text and JSON).
//!
//! Belongs here: a type that two capabilities must agree on. Does not belong here: I/O, a
//! capability's operations, HTTP shapes, configuration.

mod actor;
mod author_ref;
mod clock;
mod ids;
mod json;
mod platform_kind;
mod tenant;
mod text;
mod timestamp;

pub use actor::{Actor, InvalidActor};
pub use author_ref::AuthorRef;
pub use clock::{Clock, ManualClock, SystemClock};
pub use ids::{
    AuditId, Ids, InvalidId, KeyId, MergeId, OutboxId, ReviewId, SeededIds, SystemIds, TurnId,
    UserId, WorkerId,
};
pub use json::{Json, JsonFault};
pub use platform_kind::{PlatformKind, UnknownKind};
pub use tenant::{InvalidTenantId, TenantId};
pub use text::{TextFault, check_text, truncate_graphemes};
pub use timestamp::Timestamp;
