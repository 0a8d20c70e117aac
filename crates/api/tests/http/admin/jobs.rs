//! `/admin/jobs`

use serde_json::json;

use crate::service::{call, service};

#[tokio::test]
async fn a_job_is_run_for_all_tenants_or_one_and_says_what_it_did() {
    let service = service().await;
    let run = async |query: &str| {
        let path = format!("/admin/jobs/gc/run{query}");
        service
            .call(call("POST", &path).key(&service.operator))
            .await
    };
    let answer = run("").await;
    answer.assert_status(200);
    let expected = json!({"job": "gc", "outcome": "done", "dry_run": false, "tenants": 2,
        "left_to_others": 0, "done": []});
    assert_eq!(answer.json(), expected);
    let answer = run("?dry_run=true&tenant=acme").await;
    answer.assert_status(200);
    assert_eq!(
        (&answer.json()["dry_run"], &answer.json()["tenants"]),
        (&json!(true), &json!(1))
    );
    run("?tenant=nobody")
        .await
        .assert_problem(404, "unknown_tenant");
    run("?tenant=")
        .await
        .assert_problem(422, "invalid_parameter");
    for bad in ["?dry_run=yes", "?dryrun=true", "?tennant=acme"] {
        run(bad).await.assert_problem(422, "invalid_parameter");
    }
}

#[tokio::test]
async fn a_job_that_is_unknown_runs_already_or_meets_no_store_is_refused() {
    let service = service().await;
    for (job, status, code) in [
        ("gcc", 404, "unknown_job"),
        ("running", 409, "job_running"),
        ("away", 503, "unavailable"),
    ] {
        let path = format!("/admin/jobs/{job}/run");
        let answer = service
            .call(call("POST", &path).key(&service.operator))
            .await;
        answer.assert_problem(status, code);
    }
}
