//! A channel user as plain text, as it is written down with what they said.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A channel user as the caller named them; checked by whoever resolves them.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorRef {
    /// The channel.
    pub kind: String,
    /// The channel's own id.
    pub id: String,
    /// The name the channel shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The address the channel knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether the channel vouches for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_verified: Option<bool>,
    /// Whether it is a group (T-05).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

/// Without the person: an id can be a phone number (T-66).
impl fmt::Debug for AuthorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthorRef({}, ***)", self.kind)
    }
}
