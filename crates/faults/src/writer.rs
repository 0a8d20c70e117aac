//! Who appends, one turn at a time or many, and repeats what was not answered, as a channel plugin does.

use std::time::Duration;

use http::Method;
use rand::Rng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::call::Reply;
use crate::history::{Appending, Moment, Outcome};
use crate::load::{DAY, ERASED, Load, PAIR, PLAIN, Tenant, id};
use crate::stage::REPLICAS;
use crate::words::words;

/// Between two turns of one caller.
const REST: Duration = Duration::from_millis(12);
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// A turn that is to be stored.
struct Draft {
    tenant: usize,
    person: &'static str,
    key: String,
    text: String,
    /// The caller's own time, in milliseconds since the epoch.
    said: Option<i64>,
    ends: Option<Moment>,
    dated_back: bool,
}

/// Appends until the round is over.
pub(crate) async fn single(load: &Load, number: u64) {
    let mut rng = load.rng(number);
    for turn in 0.. {
        if load.over() {
            return;
        }
        let draft = draft(load, &mut rng, format!("w{number}n{turn}"));
        store(load, &mut rng, &draft).await;
        if rng.random_ratio(1, 32) {
            reuse(load, &draft, rng.random_range(0..REPLICAS)).await;
        }
        load.pause(REST).await;
    }
}

/// Appends in batches until the round is over; now and then a batch holds what was stored before.
pub(crate) async fn batches(load: &Load, number: u64) {
    let mut rng = load.rng(number);
    let mut turn = 0;
    let mut before: Vec<Draft> = Vec::new();
    while !load.over() {
        let tenant = rng.random_range(0..load.tenants.len());
        let mut drafts: Vec<Draft> = Vec::new();
        for _ in 0..rng.random_range(2..15) {
            turn += 1;
            let draft = draft(load, &mut rng, format!("b{number}n{turn}"));
            drafts.push(said_in(load, draft, tenant));
        }
        let again = before.into_iter().filter(|old| old.tenant == tenant);
        drafts.extend(again.take(3));
        store_all(load, &mut rng, &drafts).await;
        before = drafts;
        load.pause(REST * 5).await;
    }
}

fn draft(load: &Load, rng: &mut StdRng, key: String) -> Draft {
    let tenant = rng.random_range(0..load.tenants.len());
    let mut person = match rng.random_range(0..10) {
        0..6 => PLAIN[rng.random_range(0..PLAIN.len())],
        6..8 => PAIR[rng.random_range(0..PAIR.len())],
        _ => ERASED,
    };
    let now = load.wall(load.now()) / 1_000;
    let (mut said, mut ends, mut dated_back) = (None, None, false);
    match rng.random_range(0..16) {
        0 => {
            dated_back = true;
            said = Some(now - rng.random_range(1..20) * 3_600_000);
        }
        // Hours ahead: a clock that is wrong. The service takes two minutes of it.
        1 => said = Some(now + 5 * 3_600_000),
        2 | 3 if load.tenants[tenant].days == 1 => {
            let last = now + rng.random_range(300..2_000);
            let left = u64::try_from(last * 1_000 - load.wall(Duration::ZERO)).unwrap_or(0);
            dated_back = true;
            said = Some(last - DAY_MICROS / 1_000);
            ends = Some(Duration::from_micros(left));
            person = DAY;
        }
        _ => {}
    }
    let secret = rng.random_ratio(1, 8);
    let text = words(&load.tenants[tenant].name, person, &key, secret);
    Draft {
        tenant,
        person,
        key,
        text,
        said,
        ends,
        dated_back,
    }
}

/// The same turn in another tenant, without what depends on its rules.
fn said_in(load: &Load, draft: Draft, tenant: usize) -> Draft {
    let person = if draft.person == DAY {
        PLAIN[0]
    } else {
        draft.person
    };
    Draft {
        text: words(&load.tenants[tenant].name, person, &draft.key, false),
        tenant,
        person,
        said: draft.said.filter(|_| draft.ends.is_none()),
        dated_back: draft.dated_back && draft.ends.is_none(),
        ends: None,
        ..draft
    }
}

fn body(draft: &Draft, text: &str) -> Value {
    let mut turn = json!({ "user_message": text });
    if let Some(said) = draft.said {
        turn["timestamp_ms"] = said.into();
    }
    json!({
        "client_message_id": draft.key,
        "ref": { "kind": "custom", "id": draft.person },
        "channel_kind": "slack-user",
        "channel_scope": draft.person,
        "turn": turn,
    })
}

/// One turn, with up to four repetitions; one in five gives up each time.
async fn store(load: &Load, rng: &mut StdRng, draft: &Draft) {
    let tenant = &load.tenants[draft.tenant];
    let body = body(draft, &draft.text);
    let path = path(load, rng, tenant, "turns");
    for _ in 0..5 {
        let client = &tenant.clients[rng.random_range(0..REPLICAS)];
        let sent = load.now();
        let reply = load.call(client, Method::POST, &path, Some(&body)).await;
        let outcome = outcome(load, draft, &reply);
        let later = later(&outcome);
        note(load, draft, sent, outcome);
        if !later || rng.random_ratio(1, 5) {
            return;
        }
        load.pause(Duration::from_millis(rng.random_range(30..200)))
            .await;
    }
}

async fn store_all(load: &Load, rng: &mut StdRng, drafts: &[Draft]) {
    let Some(tenant) = drafts.first().map(|draft| &load.tenants[draft.tenant]) else {
        return;
    };
    let turns: Vec<Value> = drafts
        .iter()
        .map(|draft| body(draft, &draft.text))
        .collect();
    let body = json!({ "turns": turns });
    let path = path(load, rng, tenant, "turns/batch");
    for _ in 0..3 {
        let client = &tenant.clients[rng.random_range(0..REPLICAS)];
        let sent = load.now();
        let reply = load.call(client, Method::POST, &path, Some(&body)).await;
        let mut again = false;
        for (place, draft) in drafts.iter().enumerate() {
            let outcome = match &reply {
                Reply::Answer(200, body) => {
                    let result = &body["results"][place];
                    let status = result["status"]
                        .as_u64()
                        .and_then(|status| status.try_into().ok());
                    let body = if result["error"].is_object() {
                        &result["error"]
                    } else {
                        result
                    };
                    let reply = Reply::Answer(status.unwrap_or(0), body.clone());
                    outcome(load, draft, &reply)
                }
                other => outcome(load, draft, other),
            };
            again |= later(&outcome);
            note(load, draft, sent, outcome);
        }
        if !again || rng.random_ratio(1, 4) {
            return;
        }
        load.pause(Duration::from_millis(rng.random_range(50..300)))
            .await;
    }
}

/// A used key with other words is a conflict, whatever happens around it.
async fn reuse(load: &Load, draft: &Draft, replica: usize) {
    let tenant = &load.tenants[draft.tenant];
    let path = format!("/v1/tenants/{}/turns", tenant.name);
    let body = body(draft, &format!("{} and more", draft.text));
    // Only when the first is known to be there: else this one is the first.
    let mut there = false;
    load.write(|history| {
        there = history.appends.iter().rev().take(200).any(|append| {
            append.key == draft.key && matches!(append.outcome, Outcome::Stored { .. })
        });
    });
    if !there || draft.ends.is_some() || draft.person == ERASED {
        return;
    }
    let reply = load
        .call(&tenant.clients[replica], Method::POST, &path, Some(&body))
        .await;
    if reply.code() != Some("idempotency_mismatch") && !reply.later() {
        load.odd("a used key with other words", &reply);
    }
}

/// An append by the recovery's watch; whether it is stored.
pub(crate) async fn probe(load: &Load, replica: usize, key: String) -> bool {
    let tenant = &load.tenants[0];
    let text = words(&tenant.name, PLAIN[0], &key, false);
    let draft = Draft {
        tenant: 0,
        person: PLAIN[0],
        key,
        text,
        said: None,
        ends: None,
        dated_back: false,
    };
    let path = format!("/v1/tenants/{}/turns", tenant.name);
    let sent = load.now();
    let body = body(&draft, &draft.text);
    let reply = load
        .call(&tenant.clients[replica], Method::POST, &path, Some(&body))
        .await;
    let outcome = outcome(load, &draft, &reply);
    let stored = matches!(outcome, Outcome::Stored { .. });
    note(load, &draft, sent, outcome);
    stored
}

fn path(load: &Load, rng: &mut StdRng, tenant: &Tenant, route: &str) -> String {
    let queue = rng.random_ratio(load.fault.queued(), 100);
    let parameter = if queue { "?on_unavailable=queue" } else { "" };
    format!("/v1/tenants/{}/{route}{parameter}", tenant.name)
}

fn outcome(load: &Load, draft: &Draft, reply: &Reply) -> Outcome {
    let (status, body) = match reply {
        Reply::Answer(status, body) => (*status, body),
        Reply::NotSent(why) => return Outcome::Refused(why.clone()),
        Reply::Nothing(why) => return Outcome::Unknown(why.clone()),
    };
    let code = body["code"].as_str().unwrap_or_default();
    let explained = match (status, code) {
        (200 | 201, _) => {
            if let (Some(turn), Some(user)) = (id(&body["message_id"]), id(&body["user_id"])) {
                // Of two who are merged the answer names the survivor; who parts them knows better.
                if !PAIR.contains(&draft.person) {
                    load.tenants[draft.tenant].learn(draft.person, user);
                }
                return Outcome::Stored {
                    id: turn,
                    user,
                    seq: body["seq"].as_u64(),
                    duplicate: body["duplicate"] == true,
                };
            }
            false
        }
        (202, _) => return Outcome::Queued,
        (503, "overloaded") | (429, _) => true,
        (503, _) if body["outcome"] == "not_stored" => true,
        (503, _) => return Outcome::Unknown(format!("{code} {}", body["outcome"])),
        (410, "gone") => draft.person == ERASED || draft.ends.is_some(),
        (422, "expired") => draft.ends.is_some(),
        _ => false,
    };
    if !explained {
        load.odd(&format!("{} {}", draft.person, draft.key), reply);
    }
    if status >= 500 && !explained {
        return Outcome::Unknown(code.to_owned());
    }
    Outcome::Refused(code.to_owned())
}

fn later(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Unknown(_) => true,
        Outcome::Refused(code) => {
            !matches!(code.as_str(), "gone" | "expired" | "idempotency_mismatch")
        }
        Outcome::Stored { .. } | Outcome::Queued => false,
    }
}

fn note(load: &Load, draft: &Draft, sent: Moment, outcome: Outcome) {
    let append = Appending {
        tenant: load.tenants[draft.tenant].name.clone(),
        person: draft.person.to_owned(),
        key: draft.key.clone(),
        text: draft.text.clone(),
        ends: draft.ends,
        dated_back: draft.dated_back,
        sent,
        answered: load.now(),
        outcome,
    };
    load.write(|history| history.appends.push(append));
}
