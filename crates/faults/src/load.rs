//! The load: tenants, people, callers, and the history they write together.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::json;
use throughline_domain::{Clock as _, SystemClock};
use throughline_tests::{CLIENT_SCOPES, Client, tenant_client};
use tokio_util::sync::CancellationToken;

use crate::call::{Reply, call};
use crate::fault::Fault;
use crate::history::{History, Id, Moment, Odd};
use crate::stage::{REPLICAS, Stage};

/// People nobody merges or erases.
pub(crate) const PLAIN: [&str; 3] = ["plain-a", "plain-b", "plain-c"];
/// Two who are merged and parted again.
pub(crate) const PAIR: [&str; 2] = ["pair-a", "pair-b"];
/// Who is erased, again and again.
pub(crate) const ERASED: &str = "erased";
/// Whose turns are kept for a day only.
pub(crate) const DAY: &str = "day";

/// A tenant of this round.
pub(crate) struct Tenant {
    pub(crate) name: String,
    /// How many days it keeps turns.
    pub(crate) days: i64,
    /// Speaks for it, to each server.
    pub(crate) clients: [Client; REPLICAS],
    users: Mutex<BTreeMap<String, Id>>,
}

impl Tenant {
    /// The user that a person was last known to be.
    pub(crate) fn user(&self, person: &str) -> Option<Id> {
        self.users.lock().get(person).copied()
    }

    /// A person was answered to be that user.
    pub(crate) fn learn(&self, person: &str, user: Id) {
        self.users.lock().insert(person.to_owned(), user);
    }
}

/// What all callers of a round share.
pub(crate) struct Load {
    pub(crate) stage: Arc<Stage>,
    pub(crate) fault: Fault,
    pub(crate) tenants: Vec<Tenant>,
    pub(crate) operator: [Client; REPLICAS],
    pub(crate) stop: CancellationToken,
    began: Instant,
    history: Mutex<History>,
    calls: AtomicUsize,
    seed: u64,
}

impl Load {
    /// Makes the tenants of a round: names that begin alike, one that scans later, one that keeps a day.
    pub(crate) async fn new(stage: Arc<Stage>, fault: Fault, name: &str, seed: u64) -> Self {
        let operator = [0, 1].map(|replica| stage.operator(replica));
        let mut tenants = Vec::new();
        let mut deferred = Vec::new();
        let kinds = [
            ("", json!({})),
            ("-corp", json!({ "redaction_mode": "deferred" })),
            ("-day", json!({ "ttl_days": 1 })),
        ];
        for (suffix, config) in kinds {
            let tenant = format!("{name}{suffix}");
            let client = tenant_client(&operator[0], &tenant, &CLIENT_SCOPES).await;
            let path = format!("/admin/tenants/{tenant}");
            let body = json!({ "config": config });
            let reply = call(&operator[0], http::Method::PATCH, &path, Some(&body)).await;
            assert!(reply.success().is_some(), "{}", reply.shown());
            if config["redaction_mode"] == "deferred" {
                deferred.push(tenant.clone());
            }
            tenants.push(Tenant {
                name: tenant,
                days: config["ttl_days"].as_i64().unwrap_or(90),
                clients: [0, 1].map(|replica| stage.client(replica, client.key())),
                users: Mutex::default(),
            });
        }
        let history = History {
            began: SystemClock.now().as_micros(),
            deferred,
            ..History::default()
        };
        Self {
            stage,
            fault,
            tenants,
            operator,
            stop: CancellationToken::new(),
            began: Instant::now(),
            history: Mutex::new(history),
            calls: AtomicUsize::new(0),
            seed,
        }
    }

    /// Now, since the round began.
    pub(crate) fn now(&self) -> Moment {
        self.began.elapsed()
    }

    /// The same by the machine's clock, in microseconds since the epoch.
    pub(crate) fn wall(&self, moment: Moment) -> i64 {
        let since = i64::try_from(moment.as_micros()).unwrap_or(i64::MAX);
        self.history.lock().began.saturating_add(since)
    }

    /// Choices of one caller, the same whenever the seed is.
    pub(crate) fn rng(&self, caller: u64) -> StdRng {
        StdRng::seed_from_u64(self.seed.wrapping_mul(1_000_003).wrapping_add(caller))
    }

    /// Calls, and counts it.
    pub(crate) async fn call(
        &self,
        client: &Client,
        method: http::Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Reply {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let reply = call(client, method, path, body).await;
        if let Reply::Answer(500, _) = &reply {
            self.odd(path, &reply);
        }
        reply
    }

    /// Writes down what happened.
    pub(crate) fn write(&self, note: impl FnOnce(&mut History)) {
        note(&mut self.history.lock());
    }

    /// Writes an answer down that nothing explains.
    pub(crate) fn odd(&self, what: &str, reply: &Reply) {
        let odd = Odd {
            what: what.to_owned(),
            answer: reply.shown(),
        };
        self.write(|history| history.odd.push(odd));
    }

    /// Waits, or not any longer when the round is over.
    pub(crate) async fn pause(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Whether the callers are to end.
    pub(crate) fn over(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// The whole history; the callers have ended.
    pub(crate) fn history(&self) -> History {
        let mut history = self.history.lock().clone();
        history.calls = self.calls.load(Ordering::Relaxed);
        history
    }
}

/// An id as the service writes it.
pub(crate) fn id(value: &serde_json::Value) -> Option<Id> {
    ulid::Ulid::from_string(value.as_str()?).ok().map(|id| id.0)
}

/// The same the other way.
pub(crate) fn text(id: Id) -> String {
    ulid::Ulid(id).to_string()
}
