//! An append on paper: everything that is needed to make it later, as one JSON document.
//!
//! The document is what an outbox row and a spool entry hold. It is versioned: a reader knows every
//! version it ever wrote, and refuses one it does not know in place of guessing.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use throughline_domain::{Json, Timestamp, UserId};

use crate::queued_append::NOBODY;
use crate::{
    AuthorRef, CanvasSessionId, ChannelKind, ChannelScope, ClientMessageId, ContentForm, NewTurn,
    QueuedAppend, QueuedAuthor, Redaction, RedactionState, RequestDigest,
};

const VERSION: u32 = 1;

/// The document is none that this release can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A newer release wrote it.
    #[error("the queued append has version {0}, which this release does not know")]
    Version(u32),
    /// It is damaged.
    #[error("the queued append cannot be read")]
    Malformed,
}

#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserId>,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    author: Option<&'a AuthorRef>,
    key: &'a str,
    channel_kind: &'a str,
    channel_scope: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    canvas: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    said_at_us: Option<i64>,
    queued_at_us: i64,
    user_message: &'a str,
    assistant_answer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<&'a Json>,
    metadata: &'a Json,
    digest: String,
    form: &'a str,
    redaction: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detector: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<&'a Json>,
}

#[derive(Deserialize)]
struct Read {
    #[serde(default)]
    user: Option<UserId>,
    #[serde(default, rename = "ref")]
    author: Option<AuthorRef>,
    key: String,
    channel_kind: String,
    channel_scope: String,
    #[serde(default)]
    canvas: Option<String>,
    #[serde(default)]
    said_at_us: Option<i64>,
    /// Absent from what the first release wrote.
    #[serde(default)]
    queued_at_us: Option<i64>,
    user_message: String,
    assistant_answer: String,
    #[serde(default)]
    tool_calls: Option<Box<RawValue>>,
    metadata: Box<RawValue>,
    digest: String,
    form: String,
    redaction: String,
    #[serde(default)]
    detector: Option<u32>,
    #[serde(default)]
    findings: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

impl QueuedAppend {
    /// The document.
    pub fn encode(&self) -> String {
        let turn = &self.turn;
        let written = Written {
            v: VERSION,
            user: self.user(),
            author: self.channel_user(),
            key: turn.key.as_str(),
            channel_kind: turn.scope.kind().as_str(),
            channel_scope: turn.scope.id(),
            canvas: turn.canvas.as_ref().map(CanvasSessionId::as_str),
            said_at_us: turn.said_at.map(Timestamp::as_micros),
            queued_at_us: self.queued_at.as_micros(),
            user_message: &turn.user_message,
            assistant_answer: &turn.assistant_answer,
            tool_calls: turn.tool_calls.as_ref(),
            metadata: &turn.metadata,
            digest: hex::encode(turn.digest.as_bytes()),
            form: turn.form.as_str(),
            redaction: turn.redaction.state().as_str(),
            detector: turn.redaction.detector_version(),
            findings: turn.redaction.findings(),
        };
        serde_json::to_string(&written).expect("texts, numbers and canonical JSON can be written")
    }

    /// Reads the document back, without loss. `kept_at` is when it was put where it lay: the best that
    /// is known of when it arrived, for a document that does not say.
    pub fn decode(document: &str, kept_at: Timestamp) -> Result<Self, Unreadable> {
        let Versioned { v } = serde_json::from_str(document).map_err(|_| Unreadable::Malformed)?;
        if v != VERSION {
            return Err(Unreadable::Version(v));
        }
        let read: Read = serde_json::from_str(document).map_err(|_| Unreadable::Malformed)?;
        read.into_append(kept_at).ok_or(Unreadable::Malformed)
    }
}

impl Read {
    fn into_append(self, kept_at: Timestamp) -> Option<QueuedAppend> {
        let author = match (self.user, self.author) {
            (Some(user), None) => QueuedAuthor::User(user),
            (None, Some(author)) => QueuedAuthor::Ref(author),
            _ => return None,
        };
        let json = |raw: &RawValue| Json::from_stored(raw.get());
        let kind = ChannelKind::parse(&self.channel_kind).ok()?;
        let canvas = self.canvas.map(|id| CanvasSessionId::parse(&id).ok());
        let canvas = match canvas {
            Some(canvas) => Some(canvas?),
            None => None,
        };
        let digest = hex::decode(&self.digest).ok()?;
        let turn = NewTurn {
            key: ClientMessageId::parse(&self.key).ok()?,
            user: self.user.unwrap_or(NOBODY),
            scope: ChannelScope::new(kind, &self.channel_scope).ok()?,
            canvas,
            said_at: self.said_at_us.map(Timestamp::from_micros),
            user_message: self.user_message,
            assistant_answer: self.assistant_answer,
            tool_calls: self.tool_calls.as_deref().map(json),
            metadata: json(&self.metadata),
            digest: RequestDigest::from_bytes(&digest)?,
            redaction: Redaction::from_stored(
                RedactionState::parse(&self.redaction)?,
                self.detector,
                self.findings.as_deref().map(json),
            ),
            form: ContentForm::parse(&self.form)?,
        };
        Some(QueuedAppend {
            author,
            turn,
            queued_at: self.queued_at_us.map_or(kept_at, Timestamp::from_micros),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::{MaskedContent, TurnDraft};

    fn now() -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }

    fn later() -> Timestamp {
        Timestamp::from_millis(1_700_000_009_000)
    }

    fn draft() -> TurnDraft {
        let kind = ChannelKind::parse("slack-user").unwrap();
        TurnDraft {
            key: ClientMessageId::parse("k1").unwrap(),
            user: UserId::from_u128(7),
            scope: ChannelScope::new(kind, "C1").unwrap(),
            canvas: None,
            said_at: None,
            user_message: "hello".to_owned(),
            assistant_answer: String::new(),
            tool_calls: None,
            metadata: None,
        }
    }

    fn queued(turn: NewTurn) -> QueuedAppend {
        QueuedAppend::new(QueuedAuthor::User(turn.user()), turn, now())
    }

    fn assert_same(a: &QueuedAppend, b: &QueuedAppend) {
        let (x, y) = (a.turn(), b.turn());
        assert_eq!(a.author(), b.author());
        assert_eq!(a.queued_at(), b.queued_at());
        assert_eq!(
            (x.key(), x.user(), x.scope()),
            (y.key(), y.user(), y.scope())
        );
        assert_eq!((x.canvas(), x.said_at()), (y.canvas(), y.said_at()));
        assert_eq!(x.user_message(), y.user_message());
        assert_eq!(x.assistant_answer(), y.assistant_answer());
        assert_eq!(
            (x.tool_calls(), x.metadata()),
            (y.tool_calls(), y.metadata())
        );
        assert_eq!((x.redaction(), x.form()), (y.redaction(), y.form()));
        assert!(x.digest() == y.digest(), "the digest is the original's");
    }

    fn numbers() -> impl Strategy<Value = Value> {
        let number = |text| serde_json::from_str::<Value>(text).unwrap();
        prop_oneof![
            Just(number("1.10")),
            Just(number("1e400")),
            Just(number("12345678901234567890123")),
            any::<i64>().prop_map(|n| json!(n)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(
            said in "[^\0]{1,40}", answer in "[^\0]{0,40}", text in "[^\0]{0,20}", number in numbers(),
            at in proptest::option::of(0_i64..1 << 50),
            canvas in proptest::option::of("[a-z]{1,9}"),
        ) {
            let turn = TurnDraft {
                user_message: said,
                assistant_answer: answer,
                tool_calls: Some(json!([{ "b": number, "a": text }])),
                metadata: Some(json!({ text: number })),
                said_at: at.map(Timestamp::from_micros),
                canvas: canvas.map(|id| CanvasSessionId::parse(&id).unwrap()),
                ..draft()
            }.validate().unwrap();
            let append = queued(turn);
            assert_same(&append, &QueuedAppend::decode(&append.encode(), later()).unwrap());
        }
    }

    #[test]
    fn a_masked_turn_and_a_channel_user_come_back_as_they_were() {
        let masked = MaskedContent {
            user_message: "I am [NAME]".to_owned(),
            assistant_answer: String::new(),
            tool_calls: None,
            metadata: Json::empty_object(),
        };
        let findings = Redaction::redacted(3, Json::from_stored(r#"{"counts":{"name":1}}"#));
        let turn = draft()
            .validate()
            .unwrap()
            .with_masked_content(masked, findings);
        let author = AuthorRef {
            kind: "whatsapp-phone".to_owned(),
            id: "4179".to_owned(),
            display_name: Some("Mina".to_owned()),
            email: Some("mina@example.org".to_owned()),
            email_verified: Some(true),
            shared: true,
        };
        let append = QueuedAppend::new(QueuedAuthor::Ref(author), turn, now());
        assert_same(
            &append,
            &QueuedAppend::decode(&append.encode(), later()).unwrap(),
        );
        assert_eq!(
            format!("{append:?}"),
            "QueuedAppend(Ref(AuthorRef(whatsapp-phone, ***)), 11 bytes)"
        );
    }

    // T-37
    #[test]
    fn a_document_that_does_not_say_when_it_came_came_when_it_was_kept() {
        let text = queued(draft().validate().unwrap()).encode();
        let field = format!("\"queued_at_us\":{},", now().as_micros());
        let old = text.replacen(&field, "", 1);
        assert_ne!(old, text);
        let read = |text: &str| QueuedAppend::decode(text, later()).unwrap().queued_at();
        assert_eq!((read(&text), read(&old)), (now(), later()));
    }

    // R-072
    #[test]
    fn waiting_changes_when_a_turn_lands_and_not_what_it_is() {
        let turn = draft().validate().unwrap();
        let later = queued(turn.clone());
        assert_eq!(
            (turn.said_at(), later.turn().said_at()),
            (None, Some(now()))
        );
        assert!(later.turn().digest() == turn.digest());
        let own = Timestamp::from_millis(5);
        let said = TurnDraft {
            said_at: Some(own),
            ..draft()
        };
        assert_eq!(queued(said.validate().unwrap()).turn().said_at(), Some(own));
    }

    #[test]
    fn a_document_of_another_release_or_a_torn_one_is_refused() {
        let text = queued(draft().validate().unwrap()).encode();
        let newer = text.replacen("\"v\":1", "\"v\":2", 1);
        assert_eq!(
            QueuedAppend::decode(&newer, now()).err(),
            Some(Unreadable::Version(2))
        );
        for torn in [&text[..text.len() - 1], "", "{}", "null"] {
            assert_eq!(
                QueuedAppend::decode(torn, now()).err(),
                Some(Unreadable::Malformed)
            );
        }
        let nobody = text.replacen("\"user\"", "\"nobody\"", 1);
        assert_eq!(
            QueuedAppend::decode(&nobody, now()).err(),
            Some(Unreadable::Malformed)
        );
    }
}
