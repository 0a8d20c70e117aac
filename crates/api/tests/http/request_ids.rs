//! `x-request-id`, in and out.

use crate::service::{get, service};

#[tokio::test]
async fn every_answer_carries_the_callers_id_or_a_new_one() {
    let service = service().await;
    for path in [
        "/livez",
        "/nowhere",
        "/v1/tenants/acme/history",
        "/admin/tenants",
    ] {
        let answer = service
            .call(get(path).header("x-request-id", "abc-1.2:3_4"))
            .await;
        assert_eq!(answer.header("x-request-id"), "abc-1.2:3_4", "{path}");
        let first = service.call(get(path)).await;
        let second = service.call(get(path)).await;
        assert_eq!(first.header("x-request-id").len(), 26);
        assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    }
}

#[tokio::test]
async fn an_id_that_could_break_a_log_is_replaced() {
    let service = service().await;
    for id in ["a b", "a\"b", "<a>", &"x".repeat(129), ""] {
        let answer = service.call(get("/livez").header("x-request-id", id)).await;
        assert_eq!(answer.header("x-request-id").len(), 26, "{id}");
    }
}
