//! Who merges, parts and erases people, and insists until it is certain what came of it.

use std::time::Duration;

use http::Method;
use rand::Rng as _;
use serde_json::{Value, json};
use throughline_tests::Client;

use crate::call::Reply;
use crate::history::{Erasing, Id, Merging, Moment};
use crate::load::{ERASED, Load, PAIR, Tenant, id, text};
use crate::stage::REPLICAS;

/// How often something is tried before it is left open.
const ATTEMPTS: usize = 40;
const REST: Duration = Duration::from_millis(120);

/// Works on one tenant until the round is over, and leaves no merge half done.
pub(crate) async fn work(load: &Load, number: u64, tenant: usize) {
    let mut rng = load.rng(number);
    let tenant = &load.tenants[tenant];
    while !load.over() {
        match rng.random_range(0..4) {
            0 => merge_and_part(load, tenant, rng.random_range(0..REPLICAS)).await,
            1 => erase(load, tenant, rng.random_range(0..REPLICAS)).await,
            2 => {
                let job = ["gc", "reconcile", "redaction"][rng.random_range(0..3)];
                let path = format!("/admin/jobs/{job}/run?tenant={}", tenant.name);
                let operator = &load.operator[rng.random_range(0..REPLICAS)];
                let reply = load.call(operator, Method::POST, &path, None).await;
                if reply.success().is_none()
                    && !reply.later()
                    && reply.code() != Some("job_running")
                {
                    load.odd("a job", &reply);
                }
            }
            _ => {}
        }
        load.pause(REST).await;
    }
}

async fn erase(load: &Load, tenant: &Tenant, first: usize) {
    let Some(user) = present(load, tenant, ERASED, first).await else {
        return;
    };
    let path = format!("/v1/tenants/{}/users/{}", tenant.name, text(user));
    let sent = load.now();
    let (mut open, mut done, mut receipt) = (false, None, None);
    for attempt in 0..ATTEMPTS {
        let operator = &load.operator[(first + attempt) % REPLICAS];
        let reply = load.call(operator, Method::DELETE, &path, None).await;
        if let Some(body) = reply.success() {
            done = Some(load.now());
            // Of an attempt whose answer was lost the receipt is lost too.
            receipt = (!open).then(|| body["deleted_turns"].as_u64()).flatten();
            break;
        }
        if !reply.later() {
            load.odd("an erasure", &reply);
            break;
        }
        open |= !matches!(reply, Reply::NotSent(_));
        tokio::time::sleep(REST).await;
    }
    let erasing = Erasing {
        tenant: tenant.name.clone(),
        person: ERASED.to_owned(),
        sent,
        done,
        receipt,
    };
    load.write(|history| history.erasures.push(erasing));
}

async fn merge_and_part(load: &Load, tenant: &Tenant, first: usize) {
    let primary = present(load, tenant, PAIR[0], first).await;
    let secondary = present(load, tenant, PAIR[1], first).await;
    let (Some(primary), Some(secondary)) = (primary, secondary) else {
        return;
    };
    if primary == secondary {
        return;
    }
    tenant.learn(PAIR[0], primary);
    tenant.learn(PAIR[1], secondary);
    // Written down before it is tried: a reader may see it before we know.
    let sent = load.now();
    let mut place = 0;
    load.write(|history| {
        place = history.merges.len();
        history.merges.push(Merging {
            tenant: tenant.name.clone(),
            primary: PAIR[0].to_owned(),
            secondary: PAIR[1].to_owned(),
            sent,
            done: None,
            moved: None,
            undone: None,
        });
    });
    let body = json!({
        "primary_user_id": text(primary),
        "secondary_user_id": text(secondary),
    });
    let Some((merge, moved)) = merged(load, tenant, first, &body).await else {
        return;
    };
    let done = load.now();
    load.write(|history| {
        history.merges[place].done = Some(done);
        history.merges[place].moved = moved;
    });
    load.pause(REST * 2).await;
    let undone = part(load, tenant, first, &merge).await;
    load.write(|history| history.merges[place].undone = undone);
}

/// Merges; the merge's id, and how many turns moved when that answer came.
async fn merged(
    load: &Load,
    tenant: &Tenant,
    first: usize,
    body: &Value,
) -> Option<(String, Option<u64>)> {
    let path = format!("/v1/tenants/{}/merges", tenant.name);
    for attempt in 0..ATTEMPTS {
        let operator = &load.operator[(first + attempt) % REPLICAS];
        let reply = load.call(operator, Method::POST, &path, Some(body)).await;
        if let Some(answer) = reply.success() {
            let merge = answer["merge_id"].as_str()?.to_owned();
            return Some((merge, answer["moved_turns"].as_u64()));
        }
        if reply.code() == Some("no_change") {
            if let Some(merge) = standing(load, operator, &path, &body["primary_user_id"]).await {
                return Some((merge, None));
            }
        } else if !reply.later() {
            load.odd("a merge", &reply);
            return None;
        }
        tokio::time::sleep(REST).await;
    }
    None
}

/// The merge that stands, by the list of them.
async fn standing(load: &Load, operator: &Client, path: &str, user: &Value) -> Option<String> {
    let path = format!("{path}?user_id={}", user.as_str()?);
    let reply = load.call(operator, Method::GET, &path, None).await;
    let merges = reply.success()?["merges"].as_array()?;
    let standing = merges.iter().find(|merge| merge["undone_at"].is_null())?;
    standing["merge_id"].as_str().map(str::to_owned)
}

async fn part(load: &Load, tenant: &Tenant, first: usize, merge: &str) -> Option<Moment> {
    let path = format!("/v1/tenants/{}/merges/{merge}", tenant.name);
    for attempt in 0..ATTEMPTS {
        let operator = &load.operator[(first + attempt) % REPLICAS];
        let reply = load.call(operator, Method::DELETE, &path, None).await;
        if reply.success().is_some() || reply.code() == Some("already_undone") {
            return Some(load.now());
        }
        if !reply.later() {
            load.odd("an undoing", &reply);
            return None;
        }
        tokio::time::sleep(REST).await;
    }
    None
}

/// Who a person is now. Resolved, not looked up: a look-up may be half a minute old.
async fn present(load: &Load, tenant: &Tenant, person: &str, replica: usize) -> Option<Id> {
    let path = format!("/v1/tenants/{}/identities/resolve", tenant.name);
    let body = json!({ "ref": { "kind": "custom", "id": person } });
    let reply = load
        .call(&load.operator[replica], Method::POST, &path, Some(&body))
        .await;
    let found = reply.success().and_then(|body| id(&body["user_id"]));
    if found.is_none() && !reply.later() {
        load.odd("a resolution", &reply);
    }
    found
}
