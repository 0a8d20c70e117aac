//! The targets. Each returns whether its parser took the input, and panics when a promise is broken.

use std::sync::LazyLock;

use serde_json::Value;
use throughline_conversation_memory::{ClientMessageId, RecentQuery};
use throughline_domain::{TenantId, Timestamp, UserId};
use throughline_platform_identity::NormalizedEmail;
use throughline_redaction::{Detector, MaskPolicy, TurnContent, mask_turn};
use throughline_tenancy::Cron;
use throughline_wire::{
    AppendBody, AuditCursor, BatchBody, Cursor, EntryCursor, Filters, NameCursor, from_json,
};

/// One parser.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub seeds: &'static [&'static str],
    /// What it must hold; whether it took the input.
    pub holds: fn(&[u8]) -> bool,
}

/// All parsers of what comes from outside.
pub const TARGETS: &[Target] = &[
    Target {
        name: "cursor",
        seeds: &[
            "AQAGCiQYHkAAAAAAAAAAAAd8sesmWwdFPwQja76ZUe6D",
            "AmFjbWU",
            "AwAAAAAAAAAAAAAAAAAAAE0",
            "BAAAAAAAAAAAAAAAAAAAAE0",
        ],
        holds: cursor,
    },
    Target {
        name: "append body",
        seeds: &[
            r#"{"client_message_id":"k","user_id":"01HF7YAT000000000000000003","channel_kind":"slack-user","channel_scope":"C1","turn":{"user_message":"hi"}}"#,
            r#"{"turn_id":"7","ref":{"kind":"custom","id":"u","email":"a@b.example","email_verified":true},"channel_kind":"web","channel_scope":"s","canvas_session_id":"c","turn":{"user_message":"é","assistant_answer":"","timestamp_ms":1700000000000},"tool_calls":[{"a":[1.50,null]}],"metadata":{"a":{"b":1e400}}}"#,
        ],
        holds: append_body,
    },
    Target {
        name: "batch body",
        seeds: &[r#"{"turns":[{"channel_kind":"web","channel_scope":"s","turn":{}},7,null]}"#],
        holds: batch_body,
    },
    Target {
        name: "cron",
        seeds: &[
            "0 4 * * *",
            "*/5 0-6,22 1 JAN *",
            "0 3 * * SUN",
            "59 23 * * 1-5",
        ],
        holds: cron,
    },
    Target {
        name: "e-mail normaliser",
        seeds: &[
            "A.B+x@GoogleMail.com",
            "mina@corp.example",
            "a@b\u{fc}cher.example",
        ],
        holds: email,
    },
    Target {
        name: "json walk",
        seeds: &[
            r#"{"to":"mina@corp.example","password":"hunter2","n":[4111111111111111,{"iban":"DE89370400440532013000"}]}"#,
            r#"[{"arguments":"{\"phone\":\"+44 20 7946 0958\"}"}]"#,
        ],
        holds: json_walk,
    },
];

/// A cursor is of one kind, and what it gives makes the same cursor again.
fn cursor(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let filters = Filters::of(&tenant(), UserId::from_u128(1), &RecentQuery::default());
    let position = Cursor::decode(&text, filters).map(|position| Cursor::encode(position, filters));
    let name = NameCursor::decode(&text).map(|name| NameCursor::encode(&name));
    let entry = EntryCursor::decode(&text).map(EntryCursor::encode);
    let event = AuditCursor::decode(&text).map(AuditCursor::encode);
    let taken: Vec<String> = [position, name, entry, event]
        .into_iter()
        .flatten()
        .collect();
    assert!(taken.len() <= 1, "a cursor of two kinds: {text}");
    assert!(
        taken.iter().all(|again| *again == text),
        "{taken:?} was {text}"
    );
    !taken.is_empty()
}

/// What passes the check can be stored: the same body, written and read again, passes too.
fn append_body(bytes: &[u8]) -> bool {
    let Ok(body) = from_json::<AppendBody>(bytes) else {
        return false;
    };
    let mint = || ClientMessageId::parse("minted").expect("six letters");
    let written = serde_json::to_vec(&body).expect("a body is text, numbers and JSON");
    let again: AppendBody = from_json(&written).unwrap_or_else(|problem| panic!("{problem:?}"));
    let checked = body.check(&tenant(), mint);
    let checked_again = again.check(&tenant(), mint);
    assert_eq!(checked.is_ok(), checked_again.is_ok());
    if let Ok(turn) = &checked {
        assert!(!turn.key().as_str().contains('\0'));
    }
    checked.is_ok()
}

/// A turn that cannot be read spoils none of its neighbours.
fn batch_body(bytes: &[u8]) -> bool {
    let Ok(batch) = from_json::<BatchBody>(bytes) else {
        return false;
    };
    let turns = batch.turns.len();
    batch.decode().is_ok_and(|decoded| {
        assert_eq!(decoded.len(), turns);
        true
    })
}

/// The next moment is later and on a whole minute, and the text reads as itself.
fn cron(bytes: &[u8]) -> bool {
    let Ok(cron) = Cron::parse(&String::from_utf8_lossy(bytes)) else {
        return false;
    };
    let now = Timestamp::from_millis(1_700_000_000_000);
    if let Some(next) = cron.next_after(now) {
        assert!(next > now);
        assert_eq!(next.as_micros() % 60_000_000, 0);
    }
    assert_eq!(Cron::parse(cron.as_str()).ok().as_ref(), Some(&cron));
    true
}

/// A normal form is its own normal form.
fn email(bytes: &[u8]) -> bool {
    let Some(normal) = NormalizedEmail::of(&String::from_utf8_lossy(bytes)) else {
        return false;
    };
    assert_eq!(NormalizedEmail::of(normal.as_str()).as_ref(), Some(&normal));
    true
}

/// Whatever JSON or none is walked, its masks fit it, and JSON stays JSON.
fn json_walk(bytes: &[u8]) -> bool {
    static DETECTOR: LazyLock<Detector> = LazyLock::new(Detector::default);
    let document = String::from_utf8_lossy(bytes);
    let turn = TurnContent {
        user_message: &document,
        assistant_answer: "",
        tool_calls: Some(&document),
        metadata: "{}",
    };
    let found = DETECTOR
        .scan_turn(&turn)
        .into_metadata(DETECTOR.identity(), 1);
    assert!(found.describes(&turn));
    let masked = mask_turn(&turn, &found, &MaskPolicy::default()).expect("its own findings fit");
    let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok();
    let shown = masked.tool_calls.unwrap_or_default();
    assert!(shown.trim().is_empty() || is_json(&shown), "{shown}");
    is_json(&document)
}

fn tenant() -> TenantId {
    TenantId::parse("acme").expect("a name")
}
