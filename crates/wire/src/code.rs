//! The closed set of problem codes. Clients branch on the code, so a code never changes its meaning.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($variant:ident $word:literal $status:literal $title:literal $advice:literal)+) => {
        /// What kind of refusal an answer is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = concat!($status, ": ", $title, ". ", $advice, ".")] $variant,)+
        }

        /// Every code, in the order of its status.
        pub const ALL_CODES: &[Code] = &[$(Code::$variant,)+];

        impl Code {
            /// The stable word of the answer's `code`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The HTTP status it always comes with.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)+ }
            }

            /// A few words for people.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// What the caller should do.
            pub fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice,)+ }
            }
        }
    };
}

codes! {
    InvalidJson "invalid_json" 400
        "The body is not JSON"
        "send one JSON document in UTF-8 that names each field once"
    Unauthorized "unauthorized" 401
        "A valid key is needed"
        "send `Authorization: Bearer <key>` with a key that is not revoked"
    Forbidden "forbidden" 403
        "The key may not do this"
        "use a key with the scope that `detail` names, or an operator's key"
    TenantMismatch "tenant_mismatch" 403
        "The key belongs to another tenant"
        "use a key of the tenant in the path"
    TenantSuspended "tenant_suspended" 403
        "The tenant is suspended"
        "ask an operator to resume the tenant"
    NotFound "not_found" 404
        "There is nothing here"
        "check the path against docs/api.md"
    UnknownTenant "unknown_tenant" 404
        "There is no such tenant"
        "create the tenant first"
    UnknownUser "unknown_user" 404
        "There is no such user"
        "resolve the channel user first"
    UnknownKey "unknown_key" 404
        "There is no such key"
        "list the keys and use one of their ids"
    UnknownEntry "unknown_entry" 404
        "There is no such dead letter"
        "list the outbox with state=dlq and use one of its ids"
    UnknownJob "unknown_job" 404
        "There is no such job"
        "use one of the jobs that `detail` names"
    UnknownMerge "unknown_merge" 404
        "There is no such merge"
        "list the merges of the user and use one of their ids"
    UnknownClaim "unknown_claim" 404
        "Nobody claims the address"
        "take it as done: the address joins nobody"
    UnknownReview "unknown_review" 404
        "There is no such review"
        "list the reviews and use one of their ids"
    MethodNotAllowed "method_not_allowed" 405
        "The path has no such method"
        "use a method of the `Allow` header"
    Timeout "timeout" 408
        "The body came too slowly"
        "send the request again, faster or smaller"
    IdempotencyMismatch "idempotency_mismatch" 409
        "The key was used for another turn"
        "send this turn under a new client_message_id; never repeat it unchanged"
    TenantExists "tenant_exists" 409
        "The tenant exists already"
        "choose another name or use the tenant as it is"
    DeadLetter "dead_letter" 409
        "The turn waits as a dead letter"
        "ask an operator to requeue or discard it; see /admin/tenants/{tenant}/outbox"
    JobRunning "job_running" 409
        "The job is running already"
        "wait until it has ended"
    StaleRevision "stale_revision" 409
        "The configuration was changed in between"
        "read the tenant again and repeat the change on its `current_revision`"
    NoChange "no_change" 409
        "It is so already"
        "take it as done"
    AlreadyUndone "already_undone" 409
        "The merge was undone already"
        "take it as done"
    AlreadyDecided "already_decided" 409
        "The review was decided already"
        "read the review; to change what came of it, merge or undo the merge"
    Gone "gone" 410
        "The turn was deleted"
        "drop the turn; it cannot be stored again"
    PayloadTooLarge "payload_too_large" 413
        "Something is over its limit"
        "shorten what `pointer` names, or send fewer turns in one body"
    UnsupportedMediaType "unsupported_media_type" 415
        "The body is not announced as JSON"
        "send `Content-Type: application/json`"
    BatchTooLarge "batch_too_large" 422
        "The batch has too many turns"
        "send at most 500 turns in one batch"
    EmptyTurn "empty_turn" 422
        "The turn says nothing"
        "send at least one of user_message and assistant_answer"
    Expired "expired" 422
        "The turn is older than the tenant keeps turns"
        "drop the turn"
    InvalidAuthor "invalid_author" 422
        "The author is not clear"
        "send exactly one of user_id and ref"
    InvalidConfig "invalid_config" 422
        "The configuration is not usable"
        "correct the value that `pointer` names"
    InvalidCursor "invalid_cursor" 422
        "The cursor does not belong to this request"
        "start again without a cursor, or keep tenant, user and filters as they were"
    InvalidLimit "invalid_limit" 422
        "The limit is not usable"
        "send a whole number from 1; above 100 is 100"
    InvalidParameter "invalid_parameter" 422
        "A part of the path or the query is not usable"
        "correct the parameter that `parameter` names"
    InvalidRequest "invalid_request" 422
        "A field of the body is not usable"
        "correct the field that `pointer` names"
    InvalidText "invalid_text" 422
        "A text cannot be stored"
        "remove NUL characters and lone surrogates, or send U+FFFD in their place"
    ReservedField "reserved_field" 422
        "The field is reserved"
        "leave out tenant_id, installation_id and source; the key says who calls"
    Unsupported "unsupported" 422
        "The request asks for something that does not exist here"
        "leave out the parameter or the field"
    RateLimited "rate_limited" 429
        "The key sends too many requests"
        "wait as long as `Retry-After` says"
    Internal "internal" 500
        "The service made a mistake"
        "report the request_id; repeating may not help"
    Overloaded "overloaded" 503
        "The service has too many requests at once"
        "wait as long as `Retry-After` says and repeat"
    Unavailable "unavailable" 503
        "The store is not available"
        "repeat the same request, an append with the same client_message_id"
}

/// The word is no code of this release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownCode;

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the problem code is not known to this release")
    }
}

impl std::error::Error for UnknownCode {}

impl FromStr for Code {
    type Err = UnknownCode;
    fn from_str(word: &str) -> Result<Self, UnknownCode> {
        ALL_CODES
            .iter()
            .copied()
            .find(|code| code.as_str() == word)
            .ok_or(UnknownCode)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<str>::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_one_snake_case_word_with_an_error_status() {
        let mut seen = std::collections::BTreeSet::new();
        for code in ALL_CODES {
            let word = code.as_str();
            assert!(
                word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{word}"
            );
            assert!(seen.insert(word), "{word} stands twice");
            assert!((400..600).contains(&code.status()), "{word}");
            assert_eq!(word.parse(), Ok(*code));
        }
        assert_eq!("nonsense".parse::<Code>(), Err(UnknownCode));
    }

    #[test]
    fn the_documentation_has_a_row_for_every_code_and_no_other() {
        let docs = include_str!("../../../docs/api.md");
        let (_, table) = docs
            .split_once("<!-- codes -->\n")
            .expect("the table's start");
        let (table, _) = table
            .split_once("<!-- /codes -->")
            .expect("the table's end");
        let row = |code: &Code| {
            let (word, status) = (code.as_str(), code.status());
            let (title, advice) = (code.title(), code.advice());
            format!("| `{word}` | {status} | {title} | {advice} |")
        };
        let mut expected = vec![
            "| code | status | meaning | what to do |".to_owned(),
            "|---|---|---|---|".to_owned(),
        ];
        expected.extend(ALL_CODES.iter().map(row));
        assert_eq!(table.lines().collect::<Vec<_>>(), expected);
    }
}
