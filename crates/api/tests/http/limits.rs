//! Rate, concurrency and time.

use std::num::NonZeroU32;
use std::sync::Arc;

use futures_util::poll;
use throughline_api::{RateLimit, Settings};
use throughline_tenancy::Scope;

use crate::doubles::{Fault, FaultyMemory};
use crate::service::{Service, append_body, get, service_with};

const PATH: &str = "/v1/tenants/acme/users/01J0000000000000000000000A/turns";

async fn hanging(settings: Settings) -> Service {
    service_with(settings, |c| c.memory = Arc::new(FaultyMemory(Fault::Hang))).await
}

#[tokio::test]
async fn a_key_over_its_rate_waits_and_others_do_not() {
    let one = NonZeroU32::MIN;
    let settings = Settings {
        rate_limit: Some(RateLimit {
            per_second: one,
            burst: one,
        }),
        ..Settings::default()
    };
    let service = service_with(settings, |_| {}).await;
    let other = service.mint("acme", &Scope::ALL).await;
    service.get(PATH).await.assert_status(200);
    let refused = service.get(PATH).await;
    refused.assert_problem(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), "1");
    service.call(get(PATH).key(&other)).await.assert_status(200);
    service
        .call(get("/livez").key(&service.key))
        .await
        .assert_status(200);
}

#[tokio::test]
async fn a_full_house_turns_away_all_but_health() {
    let settings = Settings {
        max_concurrency: 1,
        metrics_open: true,
        ..Settings::default()
    };
    let service = hanging(settings).await;
    let mut first = Box::pin(service.get(PATH));
    assert!(poll!(&mut first).is_pending());
    let answer = service.get(PATH).await;
    answer.assert_problem(503, "overloaded");
    assert_eq!(answer.header("retry-after"), "1");
    for path in ["/livez", "/readyz", "/metrics"] {
        service.call(get(path)).await.assert_status(200);
    }
    // A caller that hangs up gives its place back.
    drop(first);
    let mut next = Box::pin(service.get(PATH));
    assert!(poll!(&mut next).is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_ends_with_an_unknown_outcome() {
    let service = hanging(Settings::default()).await;
    let answer = service.append(&append_body("k", "hi")).await;
    answer.assert_problem(503, "unavailable");
    assert_eq!(answer.json()["outcome"], "unknown");
    assert_eq!(answer.header("retry-after"), "1");
    let read = service.get(PATH).await;
    read.assert_problem(503, "unavailable");
    assert_eq!(read.json().get("outcome"), None);
}
