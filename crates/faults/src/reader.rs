//! Who reads: people's own turns, and what is none of the caller's business.

use std::time::Duration;

use http::Method;
use rand::Rng as _;
use serde_json::Value;
use throughline_domain::Timestamp;

use crate::call::Reply;
use crate::history::{Reading, Shown};
use crate::load::{DAY, ERASED, Load, PAIR, PLAIN, Tenant, id, text};
use crate::stage::REPLICAS;

const REST: Duration = Duration::from_millis(25);

/// Reads people's turns until the round is over.
pub(crate) async fn recent(load: &Load, number: u64) {
    let mut rng = load.rng(number);
    let people: Vec<&str> = PLAIN.into_iter().chain(PAIR).chain([ERASED, DAY]).collect();
    while !load.over() {
        let tenant = &load.tenants[rng.random_range(0..load.tenants.len())];
        let person = people[rng.random_range(0..people.len())];
        let limit = if rng.random() { 100 } else { 10 };
        read(load, tenant, rng.random_range(0..REPLICAS), person, limit).await;
        load.pause(REST).await;
    }
}

/// Everything of everybody, from both servers, when the load is over.
pub(crate) async fn everything(load: &Load) {
    for tenant in &load.tenants {
        for person in PLAIN.into_iter().chain(PAIR).chain([ERASED, DAY]) {
            for replica in 0..REPLICAS {
                read(load, tenant, replica, person, 100).await;
            }
        }
    }
}

async fn read(load: &Load, tenant: &Tenant, replica: usize, person: &str, limit: u32) {
    let Some(user) = tenant.user(person) else {
        return;
    };
    let path = format!(
        "/v1/tenants/{}/users/{}/turns?limit={limit}",
        tenant.name,
        text(user)
    );
    let sent = load.now();
    let reply = load
        .call(&tenant.clients[replica], Method::GET, &path, None)
        .await;
    match (&reply, turns(&reply)) {
        (Reply::Answer(200, body), Some(turns)) => {
            let reading = Reading {
                tenant: tenant.name.clone(),
                person: Some(person.to_owned()),
                sent,
                answered: load.now(),
                whole: body["next_cursor"].is_null(),
                turns,
            };
            load.write(|history| history.reads.push(reading));
        }
        _ if reply.later() => {}
        _ => load.odd("a read", &reply),
    }
}

/// Reads what belongs to somebody else until the round is over: another tenant's user with the own key,
/// under the own name and under theirs.
pub(crate) async fn intruder(load: &Load, number: u64) {
    let mut rng = load.rng(number);
    while !load.over() {
        let own = rng.random_range(0..load.tenants.len());
        let other = &load.tenants[(own + 1) % load.tenants.len()];
        let own = &load.tenants[own];
        let client = &own.clients[rng.random_range(0..REPLICAS)];
        if let Some(user) = other.user(PLAIN[rng.random_range(0..PLAIN.len())]) {
            let sent = load.now();
            let path = format!("/v1/tenants/{}/users/{}/turns", own.name, text(user));
            let reply = load.call(client, Method::GET, &path, None).await;
            if let Some(turns) = turns(&reply) {
                let reading = Reading {
                    tenant: own.name.clone(),
                    person: None,
                    sent,
                    answered: load.now(),
                    whole: false,
                    turns,
                };
                load.write(|history| history.reads.push(reading));
            } else if !reply.later() {
                load.odd("a read of a stranger", &reply);
            }
            let path = format!("/v1/tenants/{}/users/{}/turns", other.name, text(user));
            let reply = load.call(client, Method::GET, &path, None).await;
            if reply.code() != Some("tenant_mismatch") && !reply.later() {
                load.odd("a read under another tenant's name", &reply);
            }
        }
        load.pause(REST * 2).await;
    }
}

fn turns(reply: &Reply) -> Option<Vec<Shown>> {
    let turns = reply.success()?["turns"].as_array()?;
    turns.iter().map(shown).collect()
}

fn shown(turn: &Value) -> Option<Shown> {
    let said: Timestamp = serde_json::from_value(turn["created_at"].clone()).ok()?;
    Some(Shown {
        id: id(&turn["id"])?,
        seq: turn["seq"].as_u64()?,
        text: turn["user_message"].as_str()?.to_owned(),
        said: said.as_micros(),
    })
}
