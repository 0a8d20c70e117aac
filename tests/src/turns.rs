//! Append bodies and what comes back of them.

use serde_json::{Value, json};

use crate::Client;

/// An append body: that person, under that key, saying that on that channel.
pub fn append_body(person: &str, key: &str, kind: &str, scope: &str, text: &str) -> Value {
    json!({
        "client_message_id": key,
        "ref": { "kind": "custom", "id": person },
        "channel_kind": kind,
        "channel_scope": scope,
        "turn": { "user_message": text, "assistant_answer": "" },
    })
}

/// The user's messages of all of a user's turns, newest first, page by page.
pub async fn recent_texts(client: &Client, tenant: &str, user: &str) -> Vec<String> {
    let turns = recent_turns(client, tenant, user, "").await;
    let text = |turn: &Value| turn["user_message"].as_str().map(str::to_owned);
    turns
        .iter()
        .map(|turn| text(turn).expect("a text"))
        .collect()
}

/// All of a user's turns, newest first, page by page; `further` is added to the query.
pub async fn recent_turns(client: &Client, tenant: &str, user: &str, further: &str) -> Vec<Value> {
    let mut turns = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/tenants/{tenant}/users/{user}/turns?limit=100{further}{cursor}");
        let page = client.get(&path).await.ok();
        turns.extend(
            page["turns"]
                .as_array()
                .expect("a list of turns")
                .iter()
                .cloned(),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return turns,
        }
    }
}
