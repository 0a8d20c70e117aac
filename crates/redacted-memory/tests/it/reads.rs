//! What default readers see of what a person typed.

use serde_json::{Value, json};
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{
    CONTEXT_BLOCK_BYTES, ContentForm, ConversationMemory as _, Limit, RawReads as _, RecentQuery,
    Redaction, RedactionState, Turn, context_block,
};
use throughline_domain::{Actor, Clock as _, Json, UserId};
use throughline_tenancy::{MaskLook, RedactionMode};

use crate::stand_in::StandIn;
use crate::subject::{Redacted, inline};

const ADDRESS: &str = "jo@example.com";
const CARD: &str = "4111111111111111";

fn telling(user: UserId, key: &str) -> throughline_conversation_memory::NewTurn {
    let inner = json!({ "to": ADDRESS, "card": CARD.parse::<u64>().unwrap() }).to_string();
    turn(user, key)
        .saying(&format!("write {ADDRESS} today"))
        .answered(&format!("I wrote {ADDRESS}"))
        .tools(json!([{ "name": "send", "arguments": inner }]))
        .metadata(json!({ "card": CARD.parse::<u64>().unwrap(), ADDRESS: 1 }))
        .pending()
}

fn assert_masked(turn: &Turn) {
    assert_eq!(turn.user_message, "write [EMAIL] today");
    assert_eq!(turn.assistant_answer, "I wrote [EMAIL]");
    let tools = turn.tool_calls.as_ref().map(Json::as_str).unwrap();
    let tools: Value = serde_json::from_str(tools).unwrap();
    let inner: Value = serde_json::from_str(tools[0]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(inner, json!({ "to": "[EMAIL]", "card": "[CREDIT_CARD]" }));
    let metadata: Value = serde_json::from_str(turn.metadata.as_str()).unwrap();
    assert_eq!(metadata, json!({ "card": "[CREDIT_CARD]", "[EMAIL]": 1 }));
    assert_eq!(turn.redaction.state(), RedactionState::Redacted);
}

/// T-31: the case, wherever a default reader looks.
#[tokio::test]
async fn what_a_person_typed_is_masked_in_every_field_and_every_read() {
    let subject = inline().await;
    let (acme, mina) = subject.acme_and_mina().await;
    let alone = subject.append(&acme, telling(mina, "1")).await;
    assert_eq!(alone.redaction_state, RedactionState::Redacted);
    let batch = vec![telling(mina, "2"), telling(mina, "3")];
    for answer in subject.memory.append_batch(&acme, batch).await {
        assert_eq!(answer.unwrap().redaction_state, RedactionState::Redacted);
    }
    let page = subject.page(&acme, mina).await;
    assert_eq!((page.turns.len(), page.pending_excluded), (3, 0));
    page.turns.iter().for_each(assert_masked);
    let scope = page.turns[0].scope.clone();
    let history = subject
        .memory
        .history(&acme, &scope, Limit::default())
        .await
        .unwrap();
    assert_eq!(history.len(), 3);
    history.iter().for_each(assert_masked);
    let block = context_block(&page.turns, subject.clock.now(), CONTEXT_BLOCK_BYTES);
    assert!(
        block.block.contains("[EMAIL]") && !block.block.contains(ADDRESS),
        "{}",
        block.block
    );
}

/// The stored text is never altered: an operator reads it as it was typed.
#[tokio::test]
async fn what_is_stored_is_what_was_typed() {
    let subject = inline().await;
    let (acme, mina) = subject.acme_and_mina().await;
    let given = telling(mina, "1");
    subject.append(&acme, given.clone()).await;
    let (olga, query) = (Actor::parse("olga").unwrap(), RecentQuery::default());
    let raw = subject
        .store
        .recent_raw(&acme, mina, &query, &olga)
        .await
        .unwrap();
    let raw = &raw.turns[0];
    assert_eq!(
        (raw.user_message.as_str(), raw.form),
        (given.user_message(), ContentForm::Raw)
    );
    assert_eq!(raw.tool_calls.as_ref(), given.tool_calls());
    assert_eq!(&raw.metadata, given.metadata());
    // T-34: what is stored beside it says where and what, never the text itself.
    let findings = raw.redaction.findings().unwrap().as_str();
    assert!(
        findings.contains("EMAIL") && !findings.contains(ADDRESS),
        "{findings}"
    );
    assert!(!findings.contains(CARD), "{findings}");
}

/// Full-width digits and zero-width characters hide nothing.
#[tokio::test]
async fn look_alike_and_invisible_characters_hide_nothing() {
    let subject = inline().await;
    let (acme, mina) = subject.acme_and_mina().await;
    let wide: String = CARD
        .chars()
        .map(|c| char::from_u32(c as u32 + 0xFEE0).unwrap())
        .collect();
    let split = "jo\u{200b}@exam\u{200d}ple.com";
    let text = format!("card {wide} and {split} ß");
    subject
        .append(&acme, turn(mina, "1").saying(&text).pending())
        .await;
    let page = subject.page(&acme, mina).await;
    assert_eq!(
        page.turns[0].user_message,
        "card [CREDIT_CARD] and [EMAIL] ß"
    );
}

#[tokio::test]
async fn masks_look_as_the_tenant_wants() {
    let text = "a@example.com and b@example.com and a@example.com";
    for (look, expected) in [
        (MaskLook::Label, "[EMAIL] and [EMAIL] and [EMAIL]"),
        (
            MaskLook::SameLength,
            "************* and ************* and *************",
        ),
        (MaskLook::Numbered, "[EMAIL_1] and [EMAIL_2] and [EMAIL_1]"),
    ] {
        let subject = inline().await.looking(look);
        let (acme, mina) = subject.acme_and_mina().await;
        subject
            .append(&acme, turn(mina, "1").saying(text).pending())
            .await;
        let page = subject.page(&acme, mina).await;
        assert_eq!(page.turns[0].user_message, expected);
    }
}

/// T-33: spans that do not fit their text are no spans. The turn counts as pending, is sent back to be
/// scanned, and is readable again after the next sweep.
#[tokio::test]
async fn a_turn_whose_findings_do_not_fit_counts_as_pending_until_it_is_scanned_again() {
    let span = |start: u64, end: u64| {
        json!({ "v": 1, "content_sha256": "", "scanned_at": 0,
            "detector": { "id": "x", "version": 1, "ruleset_sha256": "", "config_sha256": "" },
            "spans": [{ "field": "user_message", "start": start, "end": end, "type": "EMAIL",
                        "score": 1.0, "rule_id": "email", "rule_rev": 1 }] })
        .to_string()
    };
    for findings in [
        span(0, 99),
        span(1, 3),
        span(3, 2),
        "{}".to_owned(),
        "[1]".to_owned(),
    ] {
        let subject = Redacted::new(RedactionMode::Deferred, StandIn::new(1));
        let (acme, mina) = subject.acme_and_mina().await;
        let broken = turn(mina, "1").saying("ß jo@example.com").pending();
        let broken = broken.with_redaction(Redaction::redacted(1, Json::from_stored(&findings)));
        subject.append(&acme, broken).await;
        let page = subject.page(&acme, mina).await;
        assert_eq!(
            (page.turns.len(), page.pending_excluded),
            (0, 1),
            "{findings}"
        );
        let scope = turn(mina, "x").pending().scope().clone();
        let told = subject
            .memory
            .history(&acme, &scope, Limit::default())
            .await;
        assert_eq!(told.unwrap(), [], "{findings}");
        // It was sent back: now the store itself leaves it out.
        let page = subject.page(&acme, mina).await;
        assert_eq!(
            (page.turns.len(), page.pending_excluded),
            (0, 1),
            "{findings}"
        );
        subject.sweep().scan_pending(None, &|| false).await.unwrap();
        let page = subject.page(&acme, mina).await;
        assert_eq!(page.turns[0].user_message, "ß [EMAIL]", "{findings}");
    }
}
