//! The trail of what operators did to people's data: who, what, to whom, never content.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use throughline_domain::{Actor, AuditId, TenantId, Timestamp, UserId};

use crate::{AuditOp, AuditQuery, MemoryError};

/// What was done, with its numbers. Each operation has exactly its keys; a document with another one
/// is refused when read and cannot be written (R-111).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditDetail {
    /// Raw text was read.
    ReadRaw(ReadRaw),
    /// A person was erased.
    ForgetUser(ForgetUser),
    /// Two people became one.
    MergeIdentities(MergeIdentities),
    /// They became two again.
    UndoMerge(UndoMerge),
    /// An address was taken out of joining.
    RevokeClaim(RevokeClaim),
}

/// The keys of `read_raw`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadRaw {
    /// The limit asked for.
    pub limit: u32,
    /// The lower bound asked for.
    pub since_ms: Option<i64>,
    /// The canvas left out.
    pub exclude_canvas_session_id: Option<String>,
    /// The channel kinds asked for.
    pub channel_kinds: Vec<String>,
    /// How many turns were shown.
    pub returned_count: u64,
}

/// The keys of `forget_user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForgetUser {
    /// Turns.
    pub deleted_turns: u64,
    /// Channel users.
    pub deleted_identities: u64,
    /// Audit entries that were deleted.
    pub deleted_audit_rows: u64,
    /// Audit entries that lost their ids.
    pub nullified_audit_rows: u64,
}

/// The keys of `merge_identities`. The ids are gone once the person was erased (T-36).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergeIdentities {
    /// Who survived.
    pub primary_user_id: Option<UserId>,
    /// Who was merged away.
    pub secondary_user_id: Option<UserId>,
    /// Channel users that changed hands.
    pub merged_identities: u64,
    /// `manual`, `system` or `auto-email`.
    pub source: String,
}

/// The keys of `undo_merge`. The ids are gone once either person was erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoMerge {
    /// Who was left.
    pub primary_user_id: Option<UserId>,
    /// Who went.
    pub secondary_user_id: Option<UserId>,
    /// Channel users that went back.
    pub restored_identities: u64,
}

/// The keys of `revoke_claim`; never the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevokeClaim {
    /// `live` or `lapsed`.
    pub previous_state: String,
}

impl AuditDetail {
    /// Which operation it is of.
    pub fn op(&self) -> AuditOp {
        match self {
            Self::ReadRaw(_) => AuditOp::ReadRaw,
            Self::ForgetUser(_) => AuditOp::ForgetUser,
            Self::MergeIdentities(_) => AuditOp::MergeIdentities,
            Self::UndoMerge(_) => AuditOp::UndoMerge,
            Self::RevokeClaim(_) => AuditOp::RevokeClaim,
        }
    }

    /// The detail as JSON text.
    pub fn to_json(&self) -> String {
        let text = match self {
            Self::ReadRaw(detail) => serde_json::to_string(detail),
            Self::ForgetUser(detail) => serde_json::to_string(detail),
            Self::MergeIdentities(detail) => serde_json::to_string(detail),
            Self::UndoMerge(detail) => serde_json::to_string(detail),
            Self::RevokeClaim(detail) => serde_json::to_string(detail),
        };
        text.expect("ids, numbers and words have a JSON form")
    }

    /// The detail as a JSON object.
    pub fn to_value(&self) -> Value {
        let value = match self {
            Self::ReadRaw(detail) => serde_json::to_value(detail),
            Self::ForgetUser(detail) => serde_json::to_value(detail),
            Self::MergeIdentities(detail) => serde_json::to_value(detail),
            Self::UndoMerge(detail) => serde_json::to_value(detail),
            Self::RevokeClaim(detail) => serde_json::to_value(detail),
        };
        value.expect("ids, numbers and words have a JSON form")
    }

    /// Reads a stored detail back; `None` for another operation or another set of keys.
    pub fn from_json(op: &str, text: &str) -> Option<Self> {
        let read = match AuditOp::parse(op)? {
            AuditOp::ReadRaw => serde_json::from_str(text).map(Self::ReadRaw),
            AuditOp::ForgetUser => serde_json::from_str(text).map(Self::ForgetUser),
            AuditOp::MergeIdentities => serde_json::from_str(text).map(Self::MergeIdentities),
            AuditOp::UndoMerge => serde_json::from_str(text).map(Self::UndoMerge),
            AuditOp::RevokeClaim => serde_json::from_str(text).map(Self::RevokeClaim),
        };
        read.ok()
    }

    /// The same without the ids of that person (T-36).
    #[must_use]
    pub fn without(mut self, ids: &[UserId]) -> Self {
        if let Self::MergeIdentities(MergeIdentities {
            primary_user_id: primary,
            secondary_user_id: secondary,
            ..
        })
        | Self::UndoMerge(UndoMerge {
            primary_user_id: primary,
            secondary_user_id: secondary,
            ..
        }) = &mut self
        {
            for id in [primary, secondary] {
                *id = id.filter(|id| !ids.contains(id));
            }
        }
        self
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// Ascending in time.
    pub id: AuditId,
    /// Who did it.
    pub actor: Actor,
    /// Whom it was done to; nobody once they were erased.
    pub user_id: Option<UserId>,
    /// The other one, of a merge.
    pub target_id: Option<UserId>,
    /// What was done.
    pub detail: AuditDetail,
    /// When.
    pub created_at: Timestamp,
}

/// The trail, to read. It is written by the operations themselves, in their transactions (R-112).
#[async_trait]
pub trait Audit: Send + Sync {
    /// Entries, newest first. In memory the latest 1,000 are kept (R-028).
    async fn events(
        &self,
        tenant: &TenantId,
        query: &AuditQuery,
    ) -> Result<Vec<AuditEvent>, MemoryError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(primary: u128, secondary: u128) -> AuditDetail {
        AuditDetail::MergeIdentities(MergeIdentities {
            primary_user_id: Some(UserId::from_u128(primary)),
            secondary_user_id: Some(UserId::from_u128(secondary)),
            merged_identities: 2,
            source: "manual".to_owned(),
        })
    }

    // R-111
    #[test]
    fn a_detail_comes_back_and_another_key_is_refused() {
        let detail = merge(1, 2);
        let text = detail.to_json();
        assert_eq!(
            text,
            r#"{"primaryUserId":"00000000000000000000000001","secondaryUserId":"00000000000000000000000002","mergedIdentities":2,"source":"manual"}"#
        );
        assert_eq!(
            AuditDetail::from_json("merge_identities", &text),
            Some(detail)
        );
        let extra = text.replace('}', r#","note":"x"}"#);
        assert_eq!(AuditDetail::from_json("merge_identities", &extra), None);
        assert_eq!(AuditDetail::from_json("forget_user", &text), None);
    }

    // T-36: the ids inside the detail go too, the other person's stays.
    #[test]
    fn a_scrubbed_detail_keeps_only_the_other_person() {
        let AuditDetail::MergeIdentities(left) = merge(1, 2).without(&[UserId::from_u128(2)])
        else {
            panic!("the operation stays");
        };
        assert_eq!(left.primary_user_id, Some(UserId::from_u128(1)));
        assert_eq!(left.secondary_user_id, None);
    }
}
