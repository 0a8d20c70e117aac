//! A surface to call: its store, its clock, its keys.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Method, Request, StatusCode};
use http_body_util::BodyExt;
use prometheus::Registry;
use serde_json::{Value, json};
use throughline_api::{
    AppendCounters, Capabilities, Draining, JobAsk, JobControl, JobRefusal, NotReady, Settings,
    StoreHealth, router,
};
use throughline_append_queue::{Keeper, QueueMetrics};
use throughline_domain::{Actor, ManualClock, SeededIds, TenantId, Timestamp};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::RedactedMemory;
use throughline_tenancy::{NewKey, Scope, Scopes, Tenancy, TenantConfig};
use throughline_wire::JobRunAnswer;
use tower::ServiceExt;

use crate::sweep::Sweep;

pub(crate) const NOW_MS: i64 = 1_700_000_000_000;

pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) draining: Draining,
    /// A key of tenant `acme` with every scope.
    pub(crate) key: String,
    pub(crate) operator: String,
}

struct Healthy;

#[async_trait]
impl StoreHealth for Healthy {
    async fn check(&self) -> Result<(), NotReady> {
        Ok(())
    }
}

/// Until the others are there.
struct NoJobs;

#[async_trait]
impl JobControl for NoJobs {
    async fn run_now(&self, _: &str, _: JobAsk) -> Result<JobRunAnswer, JobRefusal> {
        Err(JobRefusal::UnknownJob(Vec::new()))
    }
}

/// Knows two jobs: `gc`, which finds nothing to do, and `outbox`; `running` runs already.
struct FewJobs(Sweep);

#[async_trait]
impl JobControl for FewJobs {
    async fn run_now(&self, job: &str, ask: JobAsk) -> Result<JobRunAnswer, JobRefusal> {
        match job {
            "gc" => Ok(JobRunAnswer {
                job: job.to_owned(),
                outcome: "done".to_owned(),
                dry_run: ask.dry_run,
                tenants: ask.tenant.map_or(2, |_| 1),
                left_to_others: 0,
                done: Vec::new(),
                queue: None,
            }),
            "outbox" => Ok(self.0.run().await),
            "running" => Err(JobRefusal::Running),
            "away" => Err(JobRefusal::Away("the store is away".into())),
            _ => Err(JobRefusal::UnknownJob(vec!["gc"])),
        }
    }
}

/// Tenants `acme` and `acme-corp`, default settings.
pub(crate) async fn service() -> Service {
    service_with(Settings::default(), |_| {}).await
}

/// As [`service`], with other settings and some capabilities replaced.
pub(crate) async fn service_with(
    settings: Settings,
    change: impl FnOnce(&mut Capabilities),
) -> Service {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW_MS)));
    let ids = Arc::new(SeededIds::from_seed(1));
    let store = InMemoryStore::new(clock.clone(), ids.clone());
    for name in ["acme", "acme-corp"] {
        let config = TenantConfig::default();
        store.create_tenant(&tenant(name), config).await.unwrap();
    }
    let registry = Registry::new();
    let memory = RedactedMemory::built_in(
        store.clone(),
        store.clone(),
        clock.clone(),
        ids.as_ref(),
        &registry,
    );
    let memory = memory.unwrap();
    let outbox = Arc::new(memory.outbox(store.clone()));
    let metrics = QueueMetrics::register(&registry, None, clock.clone()).unwrap();
    let metrics = Arc::new(metrics);
    let keeper = Keeper::new(outbox.clone(), None, metrics.clone());
    let mut capabilities = Capabilities {
        identity: store.clone(),
        memory: Arc::new(memory),
        queue: Arc::new(keeper),
        outbox,
        appends: Arc::new(AppendCounters::register(&registry).unwrap()),
        raw: store.clone(),
        audit: store.clone(),
        erasure: store.clone(),
        tenancy: store.clone(),
        clock: clock.clone(),
        ids,
        store: Arc::new(Healthy),
        jobs: Arc::new(NoJobs),
    };
    change(&mut capabilities);
    let sweep = Sweep::of(&capabilities, metrics);
    capabilities.jobs = Arc::new(FewJobs(sweep));
    let draining = Draining::new();
    let router = router(capabilities, &settings, &registry, draining.clone()).unwrap();
    let actor = Actor::parse("olga").unwrap();
    let operator = store.mint_operator_key(&actor, "").await.unwrap();
    let mut service = Service {
        router,
        store,
        clock,
        draining,
        key: String::new(),
        operator: operator.token.reveal().to_owned(),
    };
    service.key = service.mint("acme", &Scope::ALL).await;
    service
}

pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

/// An append body of a channel user that says something.
pub(crate) fn append_body(key: &str, text: &str) -> Value {
    json!({
        "client_message_id": key, "ref": {"kind": "slack-user", "id": "U1"},
        "channel_kind": "slack-user", "channel_scope": "C1",
        "turn": {"user_message": text, "assistant_answer": "ok"},
    })
}

impl Service {
    pub(crate) async fn mint(&self, name: &str, scopes: &[Scope]) -> String {
        let key = NewKey {
            label: String::new(),
            scopes: scopes.iter().copied().collect::<Scopes>(),
        };
        let minted = self.store.mint_key(&tenant(name), key).await.unwrap();
        minted.token.reveal().to_owned()
    }

    /// With the key of `acme`.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(get(path).key(&self.key)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call(call("POST", path).key(&self.key).json(body))
            .await
    }

    pub(crate) async fn append(&self, body: &Value) -> Answer {
        self.post("/v1/tenants/acme/turns", body).await
    }

    /// Appends and gives the user back.
    pub(crate) async fn said(&self, key: &str, text: &str) -> String {
        let answer = self.append(&append_body(key, text)).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
        answer.json()["user_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn call(&self, call: Call) -> Answer {
        let response = self.router.clone().oneshot(call.request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }
}

pub(crate) struct Call {
    request: Request<Body>,
}

pub(crate) fn call(method: &str, path: &str) -> Call {
    let request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).unwrap())
        .uri(path)
        .body(Body::empty())
        .unwrap();
    Call { request }
}

pub(crate) fn get(path: &str) -> Call {
    call("GET", path)
}

impl Call {
    pub(crate) fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.request
            .headers_mut()
            .append(name, value.parse().unwrap());
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        *self.request.body_mut() = body.into();
        self
    }
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts that this is a well-formed problem and gives its status and code.
    #[track_caller]
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{}",
            self.text()
        );
        let body = self.json();
        assert_eq!(body["status"], json!(self.status.as_u16()));
        let code = body["code"].as_str().unwrap().to_owned();
        assert_eq!(
            body["type"],
            json!(format!("urn:throughline:problem:{code}"))
        );
        for member in ["title", "detail"] {
            assert!(!body[member].as_str().unwrap().is_empty(), "{body}");
        }
        assert_eq!(body["request_id"], json!(self.header("x-request-id")));
        (self.status.as_u16(), code)
    }

    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, code: &str) {
        assert_eq!(self.problem(), (status, code.to_owned()), "{}", self.text());
    }

    #[track_caller]
    pub(crate) fn assert_status(&self, status: u16) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
    }

    /// The `user_message` of each turn.
    pub(crate) fn messages(&self) -> Vec<String> {
        let body = self.json();
        let turns = body["turns"].as_array().expect("turns").iter();
        turns
            .map(|turn| turn["user_message"].as_str().unwrap().to_owned())
            .collect()
    }
}
