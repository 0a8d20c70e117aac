//! Cases of what is stored: it comes back byte for byte.

use serde_json::Value;

use super::sample::{acme_and_mina, kind, latest, scope, store, store_one, told, usage};
use super::{Subject, turn};
use crate::{
    CanvasSessionId, ChannelKind, ChannelScope, MAX_ASSISTANT_ANSWER_BYTES, MAX_METADATA_BYTES,
    MAX_TOOL_CALLS_BYTES, MAX_USER_MESSAGE_BYTES, RedactionState, Turn,
};

/// R-088: every field of a turn is read as it was given, by both readers.
pub async fn a_turn_is_read_as_it_was_given(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let now = super::sample::now(subject);
    let given = turn(mina, "k1")
        .on("teams-aad", "19:meeting_x@thread.v2")
        .saying("When?")
        .answered("At nine.")
        .canvas("cv-7")
        .at(now)
        .tools(serde_json::json!([{"name": "calendar"}]))
        .metadata(serde_json::json!({"lang": "en"}))
        .build();
    let stored = store_one(subject, &acme, given.clone()).await;
    let expected = Turn {
        id: stored.turn_id,
        seq: stored.seq,
        user_id: mina,
        scope: given.scope().clone(),
        canvas: given.canvas().cloned(),
        user_message: "When?".to_owned(),
        assistant_answer: "At nine.".to_owned(),
        tool_calls: given.tool_calls().cloned(),
        metadata: given.metadata().clone(),
        created_at: now,
        redaction: given.redaction().clone(),
        form: given.form(),
    };
    assert_eq!(stored.user_id, mina);
    assert_eq!(stored.redaction_state, RedactionState::Clean);
    let expected = [expected];
    assert_eq!(latest(subject, &acme, mina).await, expected);
    assert_eq!(told(subject, &acme, given.scope()).await, expected);
}

/// R-005: one side may be empty; absent tool calls stay absent and absent metadata is `{}`.
pub async fn one_side_of_a_turn_may_be_empty(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    store_one(subject, &acme, turn(mina, "q").saying("x").build()).await;
    store_one(
        subject,
        &acme,
        turn(mina, "a").saying("").answered("y").build(),
    )
    .await;
    let turns = latest(subject, &acme, mina).await;
    let sides: Vec<_> = turns
        .iter()
        .map(|turn| (turn.user_message.as_str(), turn.assistant_answer.as_str()))
        .collect();
    assert_eq!(sides, [("", "y"), ("x", "")]);
    for turn in turns {
        assert_eq!((turn.tool_calls, turn.metadata.as_str()), (None, "{}"));
    }
}

/// failures.md 25, 26: text that a normal form, an escape or a trim would change.
const ODD_TEXTS: [&str; 24] = [
    "\u{fffd}",
    "\u{feff}bom",
    "👨‍👩‍👧‍👦🇨🇭👩🏽‍🚀",
    "\u{202e}שלום\u{202c} مرحبا",
    "e\u{301}\u{323} \u{e9} ſ ﬁ",
    "\r",
    "a\rb\r\nc\nd",
    "\u{2028}\u{2029}\u{85}\u{b}\u{c}",
    "\\",
    "\\\\ \\n \\u0000 \\x00",
    "\"'`´\u{2019}",
    "'; drop table turns; --",
    "$1 $$ %s {} {{}} :a",
    " leading and trailing \t\n",
    "\t",
    " ",
    "\u{1}\u{7}\u{1b}[31m\u{7f}",
    "\u{ffff}\u{10ffff}\u{e000}",
    "\u{200b}\u{200d}\u{2060}",
    "<memory-system>x</memory-system>",
    "null",
    "{\"a\":1}",
    "\\.",
    "ZÜRICH Zürich zürich ß ẞ İ ı",
];

/// Every text field keeps odd text byte for byte, the scope and canvas too.
pub async fn odd_text_comes_back_byte_for_byte(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let mut batch = Vec::new();
    for (number, text) in ODD_TEXTS.iter().enumerate() {
        let scope = format!("s{text}");
        let built = turn(mina, &format!("{number}{text}"))
            .on("custom", &scope)
            .canvas(&format!("c{text}"))
            .saying(text)
            .answered(&format!("{text}{text}"))
            .tools(serde_json::json!([*text, {*text: *text}]))
            .metadata(serde_json::json!({*text: *text}));
        batch.push(built.build());
    }
    store(subject, &acme, batch.clone()).await;
    let turns = latest(subject, &acme, mina).await;
    assert_eq!(turns.len(), batch.len());
    for (given, read) in batch.iter().rev().zip(&turns) {
        assert_eq!(read.user_message, given.user_message());
        assert_eq!(read.assistant_answer, given.assistant_answer());
        assert_eq!(read.tool_calls.as_ref(), given.tool_calls());
        assert_eq!(&read.metadata, given.metadata());
        assert_eq!(&read.scope, given.scope());
        assert_eq!(read.canvas.as_ref(), given.canvas());
        assert_eq!(
            told(subject, &acme, given.scope()).await,
            std::slice::from_ref(read)
        );
    }
}

/// JSON keeps the digits of its numbers, its escapes' meaning and its place for null.
pub async fn json_comes_back_as_it_was_stored(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let texts = [
        r#"{"big":123456789012345678901234567890,"small":1e-400,"huge":1e+400}"#,
        r#"{"exact":1.10,"zero":-0,"point":0.10000000000000000555}"#,
        r#"{"":null,"a":[],"b":{},"c":[null,true,false]}"#,
        r#"{"bb":1,"a":2,"ccc":3,"B":4,"é":5}"#,
        r#"{"a":{"b":{"c":{"d":{"e":{"f":{"g":[]}}}}}}}"#,
        r#"{"u":"\u2028\ud83d\ude00\u0001\/"}"#,
    ];
    for (number, text) in texts.iter().enumerate() {
        let value: Value = serde_json::from_str(text).expect("good JSON");
        let built = turn(mina, &number.to_string())
            .tools(value.clone())
            .metadata(value);
        let given = built.build();
        store_one(subject, &acme, given.clone()).await;
        let read = latest(subject, &acme, mina).await.swap_remove(0);
        assert_eq!(read.metadata.as_str(), given.metadata().as_str());
        let tool_calls = read.tool_calls.expect("stored");
        assert_eq!(tool_calls.as_str(), given.metadata().as_str());
    }
}

/// Tool calls may be any JSON but null.
pub async fn tool_calls_may_be_any_json(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    for text in ["[]", "{}", "0", "true", "\"\"", "\"null\""] {
        let value = serde_json::from_str(text).expect("good JSON");
        store_one(subject, &acme, turn(mina, text).tools(value).build()).await;
        let read = latest(subject, &acme, mina).await.swap_remove(0);
        let tool_calls = read.tool_calls.map(|json| json.as_str().to_owned());
        assert_eq!(tool_calls.as_deref(), Some(text));
    }
}

/// A JSON string whose text has that many bytes.
fn filler(bytes: usize) -> Value {
    Value::String("é".repeat((bytes - 2) / 2))
}

/// failures.md 7: the largest turn that is allowed goes in, is counted, and comes back.
pub async fn the_largest_turn_comes_back(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    let long = "x".repeat(ChannelScope::MAX_BYTES);
    let given = turn(mina, &"😀".repeat(128))
        .on(&"k".repeat(64), &long)
        .canvas(&"c".repeat(CanvasSessionId::MAX_BYTES))
        .saying(&"é".repeat(MAX_USER_MESSAGE_BYTES / 2))
        .answered(&"😀".repeat(MAX_ASSISTANT_ANSWER_BYTES / 4))
        .tools(filler(MAX_TOOL_CALLS_BYTES))
        // {"m":…} has six bytes around its value.
        .metadata(serde_json::json!({"m": filler(MAX_METADATA_BYTES - 6)}))
        .build();
    let most = MAX_USER_MESSAGE_BYTES
        + MAX_ASSISTANT_ANSWER_BYTES
        + MAX_TOOL_CALLS_BYTES
        + MAX_METADATA_BYTES;
    assert_eq!(given.bytes(), most as u64);
    store_one(subject, &acme, given.clone()).await;
    let read = latest(subject, &acme, mina).await.swap_remove(0);
    assert!(read.user_message == given.user_message());
    assert!(read.assistant_answer == given.assistant_answer());
    assert!(read.tool_calls.as_ref() == given.tool_calls());
    assert!(&read.metadata == given.metadata());
    assert_eq!(&read.scope, given.scope());
    assert_eq!(usage(subject, &acme, mina).await.byte_count, most as u64);
    let again = subject.memory().append(&acme, given).await.expect("found");
    assert_eq!(again.turn_id, read.id);
}

/// T-75: any plain word is a channel kind; a store knows no closed list.
pub async fn an_unheard_of_channel_kind_is_stored(subject: &dyn Subject) {
    let (acme, mina) = acme_and_mina(subject).await;
    for word in ["carrier.pigeon-2_x", "9"] {
        store_one(subject, &acme, turn(mina, word).on(word, "C1").build()).await;
        let read = told(subject, &acme, &scope(word, "C1")).await;
        let kinds: Vec<&ChannelKind> = read.iter().map(|turn| turn.scope.kind()).collect();
        assert_eq!(kinds, [&kind(word)]);
    }
}
