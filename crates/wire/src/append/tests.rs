use serde_json::json;

use super::*;
use crate::from_json;

fn tenant() -> TenantId {
    TenantId::parse("acme").unwrap()
}

fn body() -> Value {
    json!({
        "client_message_id": "k", "ref": {"kind": "custom", "id": "U1"},
        "channel_kind": "custom", "channel_scope": "s",
        "turn": {"user_message": "hi", "assistant_answer": "hello"},
    })
}

fn check(body: &Value) -> Result<CheckedAppend, Problem> {
    from_json::<AppendBody>(body.to_string().as_bytes())?
        .check(&tenant(), || ClientMessageId::parse("minted").unwrap())
}

fn with(pointer: &str, value: Value) -> Value {
    let mut body = body();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap()[field] = value;
    body
}

fn refusal(body: &Value) -> (Code, String) {
    let problem = check(body).err().expect("a refusal");
    (problem.code, problem.pointer.clone().unwrap_or_default())
}

// T-12
#[test]
fn the_key_is_given_derived_or_minted_in_this_order() {
    let key = |body: &Value| {
        let checked = check(body).unwrap();
        (checked.key().as_str().to_owned(), checked.key_source)
    };
    let mut with_both = body();
    with_both["turn_id"] = json!("7");
    assert_eq!(key(&with_both), ("k".to_owned(), KeySource::Caller));
    let derived = key(&with("/client_message_id", Value::Null));
    assert_eq!(derived, ("minted".to_owned(), KeySource::Minted));
    with_both["client_message_id"] = Value::Null;
    let (text, source) = key(&with_both);
    assert!(
        text.starts_with("t:") && source == KeySource::Caller,
        "{text}"
    );
}

#[test]
fn exactly_one_author_is_needed() {
    assert_eq!(refusal(&with("/ref", Value::Null)).0, Code::InvalidAuthor);
    let both = with("/user_id", json!("01J0000000000000000000000A"));
    assert_eq!(refusal(&both).0, Code::InvalidAuthor);
    let mut user = both;
    user["ref"] = Value::Null;
    assert!(matches!(check(&user).unwrap().author, Author::User(_)));
    user["user_id"] = json!("nobody");
    assert_eq!(
        refusal(&user),
        (Code::InvalidRequest, "/user_id".to_owned())
    );
}

// failures.md 11, 25
#[test]
fn every_refusal_of_a_name_has_its_code_and_pointer() {
    for (pointer, value, code, at) in [
        (
            "/channel_kind",
            json!("Slack User"),
            Code::InvalidRequest,
            "/channel_kind",
        ),
        (
            "/channel_kind",
            json!(""),
            Code::InvalidRequest,
            "/channel_kind",
        ),
        (
            "/channel_scope",
            json!(" "),
            Code::InvalidRequest,
            "/channel_scope",
        ),
        (
            "/channel_scope",
            json!("x".repeat(513)),
            Code::PayloadTooLarge,
            "/channel_scope",
        ),
        (
            "/canvas_session_id",
            json!(""),
            Code::InvalidRequest,
            "/canvas_session_id",
        ),
        (
            "/client_message_id",
            json!(""),
            Code::InvalidRequest,
            "/client_message_id",
        ),
        (
            "/client_message_id",
            json!("x".repeat(129)),
            Code::PayloadTooLarge,
            "/client_message_id",
        ),
        (
            "/client_message_id",
            json!("a\0"),
            Code::InvalidText,
            "/client_message_id",
        ),
    ] {
        let expected = (code, at.to_owned());
        assert_eq!(refusal(&with(pointer, value)), expected, "{pointer}");
    }
}

// failures.md 7, 25 and T-59
#[test]
fn every_refusal_of_content_has_its_code_and_pointer() {
    let kib = |n: usize| "x".repeat(n * 1024);
    let deep: Value =
        serde_json::from_str(&format!("{}1{}", "[".repeat(9), "]".repeat(9))).unwrap();
    for (pointer, value, code, at) in [
        (
            "/turn/user_message",
            json!("a\0"),
            Code::InvalidText,
            "/turn/user_message",
        ),
        (
            "/turn/user_message",
            json!(kib(256) + "x"),
            Code::PayloadTooLarge,
            "/turn/user_message",
        ),
        (
            "/turn/assistant_answer",
            json!(kib(1024) + "x"),
            Code::PayloadTooLarge,
            "/turn/assistant_answer",
        ),
        (
            "/turn/timestamp_ms",
            json!(i64::MAX),
            Code::InvalidRequest,
            "/turn/timestamp_ms",
        ),
        (
            "/turn/timestamp_ms",
            json!(1.5),
            Code::InvalidRequest,
            "/turn/timestamp_ms",
        ),
        (
            "/turn/timestamp_ms",
            json!("1"),
            Code::InvalidRequest,
            "/turn/timestamp_ms",
        ),
        ("/turn", json!({}), Code::EmptyTurn, "/turn"),
        (
            "/turn",
            json!({"user_message": "", "assistant_answer": ""}),
            Code::EmptyTurn,
            "/turn",
        ),
        ("/turn", Value::Null, Code::InvalidRequest, "/turn"),
        ("/metadata", json!([]), Code::InvalidRequest, "/metadata"),
        (
            "/metadata",
            json!({"a": kib(16)}),
            Code::PayloadTooLarge,
            "/metadata",
        ),
        (
            "/metadata",
            json!({"a": "\0"}),
            Code::InvalidText,
            "/metadata",
        ),
        ("/tool_calls", deep, Code::InvalidRequest, "/tool_calls"),
        (
            "/tool_calls",
            json!(kib(512)),
            Code::PayloadTooLarge,
            "/tool_calls",
        ),
        (
            "/tenant_id",
            json!("acme"),
            Code::ReservedField,
            "/tenant_id",
        ),
    ] {
        assert_eq!(
            refusal(&with(pointer, value.clone())),
            (code, at.to_owned()),
            "{pointer}"
        );
    }
}

#[test]
fn a_limit_is_exact_at_its_edge() {
    for size in [256 * 1024 - 1, 256 * 1024] {
        assert!(check(&with("/turn/user_message", json!("x".repeat(size)))).is_ok());
    }
    assert!(check(&with("/channel_scope", json!("x".repeat(512)))).is_ok());
    assert!(check(&with("/client_message_id", json!("é".repeat(128)))).is_ok());
}

#[test]
fn a_refusal_names_the_turn_when_its_key_is_usable() {
    let problem = check(&with("/turn", json!({}))).err().expect("a refusal");
    assert_eq!(problem.client_message_id.as_deref(), Some("k"));
}

#[test]
fn null_optional_fields_are_absent_ones() {
    let mut nulls = body();
    for field in [
        "user_id",
        "turn_id",
        "canvas_session_id",
        "tool_calls",
        "metadata",
    ] {
        nulls[field] = Value::Null;
    }
    nulls["turn"]["timestamp_ms"] = Value::Null;
    let user = UserId::from_u128(1);
    let digest = |body: &Value| check(body).unwrap().said_by(user).digest();
    assert_eq!(digest(&nulls), digest(&body()));
}
