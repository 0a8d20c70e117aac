//! Bodies of resolving and looking up people.

use serde::{Deserialize, Serialize};
use throughline_conversation_memory::Usage;
use throughline_domain::{AuthorRef, Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, Identity, PlatformKind, User};
use utoipa::ToSchema;

use crate::append::moment;
use crate::{Place, Problem, channel_user_problem};

/// A channel's user as the channel names them. Null and absent are the same.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefBody {
    /// One of the platform kinds.
    pub kind: String,
    /// The channel's own id; opaque.
    pub id: String,
    /// The name the channel shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The address the channel knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether the channel vouches for that address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_verified: Option<bool>,
    /// Whether it is a group and no single person: it is joined to nobody by an address, and its turns
    /// are shown in their channel scope only. Once true it stays so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
}

impl RefBody {
    /// The checked channel user; `pointer` is where the ref stood in the body.
    pub fn check(&self, pointer: &str) -> Result<ChannelUser, Problem> {
        let kind: PlatformKind = self.kind.parse().map_err(|unknown| {
            let place = format!("{pointer}/kind");
            Place::Body(&place).invalid(format!("{unknown}"))
        })?;
        let refuse = |fault| channel_user_problem(&fault, pointer);
        let mut user = ChannelUser::new(kind, &self.id).map_err(refuse)?;
        if let Some(name) = &self.display_name {
            user = user.with_display_name(name).map_err(refuse)?;
        }
        if let Some(email) = &self.email {
            user = user
                .with_email(email, self.email_verified)
                .map_err(refuse)?;
        }
        Ok(user.with_shared(self.shared == Some(true)))
    }
}

/// As it is asked for: what holds by itself is left out.
impl From<AuthorRef> for RefBody {
    fn from(author: AuthorRef) -> Self {
        Self {
            kind: author.kind,
            id: author.id,
            display_name: author.display_name,
            email: author.email,
            email_verified: author.email_verified,
            shared: author.shared.then_some(true),
        }
    }
}

/// Without the person: a WhatsApp id is a phone number (T-66).
impl std::fmt::Debug for RefBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RefBody(***)")
    }
}

/// `POST /v1/tenants/{tenant}/identities/resolve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResolveBody {
    /// Whom.
    pub r#ref: RefBody,
    /// When they said what this is asked for, in milliseconds since 1970; absent for now. Of somebody who
    /// was erased at that moment or later nobody is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<i64>,
}

impl ResolveBody {
    /// The checked channel user, and the moment.
    pub fn check(&self) -> Result<(ChannelUser, Option<Timestamp>), Problem> {
        let said_at = moment(self.timestamp_ms, "/timestamp_ms")?;
        Ok((self.r#ref.check("/ref")?, said_at))
    }
}

/// The user behind a channel user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResolveAnswer {
    /// The stable user.
    #[schema(value_type = String)]
    pub user_id: UserId,
    /// The id the channel user was first seen under; another than `user_id` after a merge. A turn that
    /// is appended under it goes back with it when the merge is undone.
    #[schema(value_type = String)]
    pub account_id: UserId,
    /// Whether this very call made them.
    pub is_new: bool,
}

/// The user behind a channel user that was seen before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LookupAnswer {
    /// The stable user.
    #[schema(value_type = String)]
    pub user_id: UserId,
}

/// One channel's view of a user.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IdentityBody {
    /// The channel.
    pub kind: String,
    /// The channel's own id.
    pub id: String,
    /// The latest name given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The latest address given, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether the channel vouched for it.
    pub email_verified: bool,
    /// True for a group.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// First resolved.
    #[schema(value_type = String, format = DateTime)]
    pub first_seen_at: Timestamp,
    /// Last resolved, to within a minute.
    #[schema(value_type = String, format = DateTime)]
    pub last_seen_at: Timestamp,
    /// How it came to this user: `auto-email`, `manual` or `system`.
    pub claim_source: String,
}

impl From<Identity> for IdentityBody {
    fn from(identity: Identity) -> Self {
        Self {
            kind: identity.id.kind.as_str().to_owned(),
            id: identity.id.id().to_owned(),
            display_name: identity.display_name,
            email: identity.email,
            email_verified: identity.email_verified,
            shared: identity.shared,
            first_seen_at: identity.first_seen_at,
            last_seen_at: identity.last_seen_at,
            claim_source: identity.claim_source.as_str().to_owned(),
        }
    }
}

/// Without the person (T-66).
impl std::fmt::Debug for IdentityBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IdentityBody({}, ***)", self.kind)
    }
}

/// `GET /v1/tenants/{tenant}/users/{user_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserAnswer {
    /// The id that answers: the survivor's, when a merged id was asked for.
    #[schema(value_type = String)]
    pub user_id: UserId,
    /// `active`.
    pub status: String,
    /// By first sight.
    pub identities: Vec<IdentityBody>,
    /// The ids that now answer with this one.
    #[schema(value_type = Vec<String>)]
    pub merged_user_ids: Vec<UserId>,
    /// Stored turns.
    pub turn_count: u64,
    /// Their bytes.
    pub byte_count: u64,
}

impl UserAnswer {
    /// Puts the two capabilities' answers together.
    pub fn new(user: User, usage: Usage) -> Self {
        Self {
            user_id: user.user_id,
            status: user.status.as_str().to_owned(),
            identities: user.identities.into_iter().map(Into::into).collect(),
            merged_user_ids: user.merged_user_ids,
            turn_count: usage.turn_count,
            byte_count: usage.byte_count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, from_json};

    fn refusal(body: &str) -> (Code, Option<String>) {
        let problem = from_json::<ResolveBody>(body.as_bytes())
            .and_then(|body| body.r#ref.check("/ref"))
            .unwrap_err();
        (problem.code, problem.pointer.clone())
    }

    #[test]
    fn null_and_absent_are_the_same() {
        let body = r#"{"ref":{"kind":"custom","id":"a","display_name":null,"email":null}}"#;
        let nulls: ResolveBody = from_json(body.as_bytes()).unwrap();
        let absent: ResolveBody = from_json(br#"{"ref":{"kind":"custom","id":"a"}}"#).unwrap();
        assert_eq!(nulls, absent);
        assert!(nulls.r#ref.check("/ref").is_ok());
    }

    // failures.md 11 and 25
    #[test]
    fn every_refusal_names_its_field() {
        let at = |code, pointer: &str| (code, Some(pointer.to_owned()));
        for (fields, expected) in [
            (
                r#""kind":"fax","id":"a""#,
                at(Code::InvalidRequest, "/ref/kind"),
            ),
            (
                r#""kind":"custom","id":" ""#,
                at(Code::InvalidRequest, "/ref/id"),
            ),
            (
                r#""kind":"custom","id":"\u0000""#,
                at(Code::InvalidText, "/ref/id"),
            ),
            (r#""kind":"custom""#, at(Code::InvalidRequest, "/ref")),
            (
                r#""kind":"custom","id":1"#,
                at(Code::InvalidRequest, "/ref/id"),
            ),
            (
                r#""kind":"custom","id":"a","email":"""#,
                at(Code::InvalidRequest, "/ref/email"),
            ),
            (
                r#""kind":"custom","id":"a","email_verified":"yes""#,
                at(Code::InvalidRequest, "/ref/email_verified"),
            ),
        ] {
            assert_eq!(
                refusal(&format!(r#"{{"ref":{{{fields}}}}}"#)),
                expected,
                "{fields}"
            );
        }
        let long = format!(
            r#"{{"ref":{{"kind":"custom","id":"{}"}}}}"#,
            "x".repeat(257)
        );
        assert_eq!(refusal(&long), at(Code::PayloadTooLarge, "/ref/id"));
    }
}
