//! Plays the scenes over HTTP and shows what the service answers.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use throughline_domain::{Clock as _, SystemClock, TenantId, UserId};
use throughline_wire::{AppendAnswer, ContextAnswer, RecentAnswer, paths};

use super::page::Page;
use super::story::{CANVAS, DESK, LOBBY, Scene, TELEGRAM_ID, TRAIN};
use crate::api_client::ApiClient;
use crate::failure::Failure;
use crate::output::say;

/// How many characters of a turn the overview shows.
const OVERVIEW: usize = 44;

pub(super) struct Teller<'a> {
    client: ApiClient,
    tenant: &'a TenantId,
    page: Page,
}

impl<'a> Teller<'a> {
    pub(super) fn new(client: ApiClient, tenant: &'a TenantId, page: Page) -> Self {
        Self {
            client,
            tenant,
            page,
        }
    }

    /// The story from the train to the desk; whose it was.
    pub(super) async fn tell(&self, address: SocketAddr) -> Result<UserId, Failure> {
        say("Throughline: one person, three channels, one memory")?;
        say(format_args!(
            "in memory on http://{address}; nothing is kept when it stops"
        ))?;
        let mut known = None;
        let mut number = 0;
        for scene in TRAIN.iter().chain(&LOBBY) {
            number += 1;
            known = Some(self.play(number, scene, known).await?);
        }
        let mina = known.expect("the story has scenes");
        self.hand_over(mina).await?;
        self.play(number + 1, &DESK, Some(mina)).await?;
        self.overview(mina).await?;
        Ok(mina)
    }

    /// One turn. The first one names Mina as Telegram does; from then on the channels, which know that
    /// it is her, give her id.
    async fn play(
        &self,
        number: u32,
        scene: &Scene,
        known: Option<UserId>,
    ) -> Result<UserId, Failure> {
        let ago = match scene.minutes_ago {
            0 => "now".to_owned(),
            minutes => format!("{minutes} min ago"),
        };
        self.page
            .heading(&format!("{number}  {}", scene.place), &ago)?;
        self.page.speech("Mina", scene.mina)?;
        self.page.speech("Assistant", scene.assistant)?;
        let said_at = SystemClock
            .now()
            .minus(Duration::from_mins(scene.minutes_ago));
        let mut body = json!({
            "client_message_id": format!("demo:{number}"),
            "channel_kind": scene.kind,
            "channel_scope": scene.scope,
            "turn": {
                "user_message": scene.mina,
                "assistant_answer": scene.assistant,
                "timestamp_ms": said_at.as_millis(),
            },
        });
        match known {
            Some(user) => body["user_id"] = json!(user),
            None => {
                body["ref"] =
                    json!({"kind": "telegram-chat", "id": TELEGRAM_ID, "display_name": "Mina"});
            }
        }
        if let Some(canvas) = scene.canvas {
            body["canvas_session_id"] = json!(canvas);
        }
        let path = paths::fill(paths::TURNS, self.tenant, &[]);
        let stored: AppendAnswer = self.call(Method::POST, &path, &body).await?;
        let user = stored.user_id;
        let who = if known.is_some() { "user" } else { "new user" };
        self.page.aside(&format!("stored for {who} {user}"))?;
        Ok(user)
    }

    /// What the desk's assistant gets before it answers.
    async fn hand_over(&self, mina: UserId) -> Result<(), Failure> {
        self.page.heading(
            "Mina sits down. The desk assistant's prompt begins with",
            "",
        )?;
        let path = paths::fill(
            paths::CONTEXT,
            self.tenant,
            &[("user_id", &mina.to_string())],
        );
        let path = format!("{path}?exclude_canvas_session_id={CANVAS}");
        let context: ContextAnswer = self.call(Method::GET, &path, &Value::Null).await?;
        self.page.block(&context.block)
    }

    async fn overview(&self, mina: UserId) -> Result<(), Failure> {
        self.page.heading(
            "Mina's recent turns across channels, newest first",
            "times in UTC",
        )?;
        let path = paths::fill(
            paths::RECENT,
            self.tenant,
            &[("user_id", &mina.to_string())],
        );
        let recent: RecentAnswer = self.call(Method::GET, &path, &Value::Null).await?;
        for turn in &recent.turns {
            let time = turn.created_at.to_string();
            let clock = time.get(11..16).unwrap_or_default();
            let kind = &turn.channel_kind;
            say(format_args!(
                "  {clock}  {kind:<15} {}",
                start_of(&turn.user_message)
            ))?;
        }
        Ok(())
    }

    /// Two commands for the reader to try.
    pub(super) fn curl_lines(
        &self,
        address: SocketAddr,
        key: &str,
        mina: UserId,
    ) -> Result<(), Failure> {
        self.page.heading("Ask it yourself", "")?;
        for template in [paths::RECENT, paths::CONTEXT] {
            let path = paths::fill(template, self.tenant, &[("user_id", &mina.to_string())]);
            say(format_args!(
                "curl -sH 'Authorization: Bearer {key}' \\\n  {address}{path}"
            ))?;
        }
        Ok(())
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<T, Failure> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = self.client.send(method, path, Bytes::from(body)).await;
        let answer = answer.map_err(|error| Failure::caused("demo_failed", path, &error))?;
        let text = String::from_utf8_lossy(&answer.body);
        if !answer.status.is_success() {
            let text = format!("{path} answered {}: {text}", answer.status);
            return Err(Failure::failed("demo_failed", text));
        }
        serde_json::from_str(&text)
            .map_err(|error| Failure::caused("demo_failed", "the answer has another shape", &error))
    }
}

/// The first words of a text, with … when there are more.
fn start_of(text: &str) -> String {
    if text.chars().count() <= OVERVIEW {
        return text.to_owned();
    }
    let cut: String = text.chars().take(OVERVIEW).collect();
    let whole = cut
        .rsplit_once(' ')
        .map_or(cut.as_str(), |(words, _)| words);
    format!("{whole} …")
}
