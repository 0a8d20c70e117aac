//! The fingerprint that tells a retry from another turn under the same key.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::NewTurn;

/// SHA-256 over what was said and where. The user is not part of it: an id that was merged in between
/// would turn an honest retry into a conflict, so the store compares the person behind the stored row
/// with the person behind the request instead.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RequestDigest([u8; 32]);

impl RequestDigest {
    /// Each part goes in with its length, an absent one as the length `u64::MAX`.
    pub(crate) fn of(turn: &NewTurn) -> Self {
        let said_at = turn.said_at().map(|at| at.as_micros().to_string());
        let parts = [
            Some(turn.scope().kind().as_str()),
            Some(turn.scope().id()),
            turn.canvas().map(crate::CanvasSessionId::as_str),
            said_at.as_deref(),
            Some(turn.user_message()),
            Some(turn.assistant_answer()),
            turn.tool_calls().map(throughline_domain::Json::as_str),
            Some(turn.metadata().as_str()),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(
                part.map_or(u64::MAX, |text| text.len() as u64)
                    .to_be_bytes(),
            );
            hash.update(part.unwrap_or_default());
        }
        Self(hash.finalize().into())
    }

    /// The bytes a store keeps.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The bytes a store kept; `None` when they are not 32.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Debug for RequestDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestDigest(..)")
    }
}
