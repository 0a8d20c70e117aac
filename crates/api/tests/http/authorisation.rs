//! Every route by every kind of caller (failures.md 13).

use serde_json::json;
use throughline_api::{Access, Settings, route_list};
use throughline_tenancy::{Scope, Tenancy, TenantConfig, TenantStatus};

use crate::service::{Answer, Service, call, get, service, service_with, tenant};

/// What each route asks for, written down a second time: a line in the list without a row here fails.
const ROWS: &[(&str, &str, Access)] = &[
    (
        "POST",
        "/v1/tenants/{tenant}/identities/resolve",
        Access::Scope(Scope::IdentityResolve),
    ),
    (
        "GET",
        "/v1/tenants/{tenant}/identities",
        Access::Scope(Scope::IdentityResolve),
    ),
    (
        "GET",
        "/v1/tenants/{tenant}/users/{user_id}",
        Access::Scope(Scope::IdentityResolve),
    ),
    (
        "DELETE",
        "/v1/tenants/{tenant}/users/{user_id}",
        Access::Operator,
    ),
    (
        "GET",
        "/v1/tenants/{tenant}/users/{user_id}/turns",
        Access::Scope(Scope::TurnsRead),
    ),
    (
        "GET",
        "/v1/tenants/{tenant}/users/{user_id}/context",
        Access::Scope(Scope::TurnsRead),
    ),
    (
        "POST",
        "/v1/tenants/{tenant}/turns",
        Access::Scope(Scope::TurnsWrite),
    ),
    (
        "POST",
        "/v1/tenants/{tenant}/turns/batch",
        Access::Scope(Scope::TurnsWrite),
    ),
    (
        "POST",
        "/v1/tenants/{tenant}/outbox",
        Access::Scope(Scope::TurnsWrite),
    ),
    (
        "GET",
        "/v1/tenants/{tenant}/history",
        Access::Scope(Scope::TurnsRead),
    ),
    (
        "DELETE",
        "/v1/tenants/{tenant}/history",
        Access::Scope(Scope::TurnsWrite),
    ),
    (
        "POST",
        "/v1/tenants/{tenant}/merges",
        Access::Scope(Scope::IdentityMerge),
    ),
    ("GET", "/v1/tenants/{tenant}/merges", Access::Operator),
    (
        "DELETE",
        "/v1/tenants/{tenant}/merges/{merge_id}",
        Access::Operator,
    ),
    ("POST", "/admin/tenants", Access::Operator),
    ("GET", "/admin/tenants", Access::Operator),
    ("GET", "/admin/tenants/{tenant}", Access::Operator),
    ("PUT", "/admin/tenants/{tenant}", Access::Operator),
    ("PATCH", "/admin/tenants/{tenant}", Access::Operator),
    ("POST", "/admin/tenants/{tenant}/keys", Access::Operator),
    ("GET", "/admin/tenants/{tenant}/keys", Access::Operator),
    (
        "DELETE",
        "/admin/tenants/{tenant}/keys/{key_id}",
        Access::Operator,
    ),
    ("GET", "/admin/tenants/{tenant}/outbox", Access::Operator),
    (
        "POST",
        "/admin/tenants/{tenant}/outbox/{entry_id}/requeue",
        Access::Operator,
    ),
    (
        "DELETE",
        "/admin/tenants/{tenant}/outbox/{entry_id}",
        Access::Operator,
    ),
    ("GET", "/admin/tenants/{tenant}/reviews", Access::Operator),
    (
        "POST",
        "/admin/tenants/{tenant}/reviews/{review_id}/accept",
        Access::Operator,
    ),
    (
        "POST",
        "/admin/tenants/{tenant}/reviews/{review_id}/decline",
        Access::Operator,
    ),
    ("GET", "/admin/tenants/{tenant}/audit", Access::Operator),
    (
        "GET",
        "/admin/tenants/{tenant}/audit/export",
        Access::Operator,
    ),
    (
        "POST",
        "/admin/tenants/{tenant}/claims/revoke",
        Access::Operator,
    ),
    ("POST", "/admin/jobs/{job}/run", Access::Operator),
    ("POST", "/admin/operators/keys", Access::Operator),
    ("GET", "/admin/operators/keys", Access::Operator),
    ("DELETE", "/admin/operators/keys/{key_id}", Access::Operator),
    ("GET", "/livez", Access::Open),
    ("GET", "/healthz", Access::Open),
    ("GET", "/readyz", Access::Open),
    ("GET", "/openapi.json", Access::Open),
    ("GET", "/metrics", Access::Open),
    ("GET", "/ccm/metrics", Access::Open),
];

const SOME_ID: &str = "01J0000000000000000000000A";

async fn ask(
    service: &Service,
    row: &(&str, &str, Access),
    name: &str,
    key: Option<&str>,
) -> Answer {
    let path = row.1.replace("{tenant}", name);
    let path = path
        .replace("{user_id}", SOME_ID)
        .replace("{merge_id}", SOME_ID)
        .replace("{review_id}", SOME_ID)
        .replace("{key_id}", SOME_ID)
        .replace("{entry_id}", SOME_ID);
    // A body that changes nothing wherever it is let in.
    let call = call(row.0, &path).json(&json!({}));
    service
        .call(if let Some(key) = key {
            call.key(key)
        } else {
            call
        })
        .await
}

#[test]
fn every_route_has_its_row() {
    let listed: Vec<_> = route_list()
        .into_iter()
        .map(|route| (route.method.to_string(), route.path, route.access))
        .collect();
    let rows: Vec<_> = ROWS
        .iter()
        .map(|row| (row.0.to_owned(), row.1, row.2))
        .collect();
    assert_eq!(listed, rows);
}

#[tokio::test]
async fn only_the_allowed_cells_succeed() {
    let settings = Settings {
        metrics_open: true,
        ..Settings::default()
    };
    let service = service_with(settings, |_| {}).await;
    let store = &service.store;
    let dormant = tenant("dormant");
    store
        .create_tenant(&dormant, TenantConfig::default())
        .await
        .unwrap();
    let suspended = service.mint("dormant", &Scope::ALL).await;
    store
        .set_status(&dormant, TenantStatus::Suspended)
        .await
        .unwrap();
    let revoked = service.mint("acme", &Scope::ALL).await;
    let record = store.keys(&tenant("acme")).await.unwrap().pop().unwrap();
    store.revoke_key(&tenant("acme"), record.id).await.unwrap();
    let foreign = service.mint("acme-corp", &Scope::ALL).await;
    let glued = format!("{}x", service.key);
    let mut singles = Vec::new();
    for scope in Scope::ALL {
        singles.push((scope, service.mint("acme", &[scope]).await));
    }

    for row in ROWS {
        let (method, path, access) = *row;
        let cell = |who: &str| format!("{method} {path} by {who}");
        let passed = |answer: &Answer| !matches!(answer.status.as_u16(), 401 | 403);
        if access == Access::Open {
            assert!(
                passed(&ask(&service, row, "acme", None).await),
                "{}",
                cell("anybody")
            );
            continue;
        }
        for (who, key) in [
            ("garbage", "garbage"),
            ("revoked", &revoked),
            ("glued", &glued),
        ] {
            let answer = ask(&service, row, "acme", Some(key)).await;
            assert_eq!(
                answer.problem(),
                (401, "unauthorized".to_owned()),
                "{}",
                cell(who)
            );
        }
        let nobody = ask(&service, row, "acme", None).await;
        assert_eq!(
            nobody.problem(),
            (401, "unauthorized".to_owned()),
            "{}",
            cell("nobody")
        );
        assert!(nobody.header("www-authenticate").starts_with("Bearer"));

        let operators = access == Access::Operator;
        let other = ask(&service, row, "acme", Some(&foreign)).await.problem();
        let expected = if operators && path.starts_with("/admin/") {
            "forbidden"
        } else {
            "tenant_mismatch"
        };
        assert_eq!(
            other,
            (403, expected.to_owned()),
            "{}",
            cell("another tenant")
        );
        let asleep = ask(&service, row, "dormant", Some(&suspended))
            .await
            .problem();
        assert_eq!(
            asleep,
            (403, "tenant_suspended".to_owned()),
            "{}",
            cell("suspended")
        );

        for (scope, key) in &singles {
            let answer = ask(&service, row, "acme", Some(key)).await;
            if access == Access::Scope(*scope) {
                assert!(
                    passed(&answer),
                    "{}: {}",
                    cell(scope.as_str()),
                    answer.text()
                );
            } else {
                let refused = (403, "forbidden".to_owned());
                assert_eq!(answer.problem(), refused, "{}", cell(scope.as_str()));
            }
        }
        for name in ["acme", "dormant"] {
            let answer = ask(&service, row, name, Some(&service.operator)).await;
            assert!(passed(&answer), "{}: {}", cell("operator"), answer.text());
        }
    }
}

#[tokio::test]
async fn a_foreign_tenant_answers_alike_whether_it_exists_or_not() {
    let service = service().await;
    let body = |answer: Answer| {
        let mut body = answer.json();
        body["request_id"] = json!(null);
        body
    };
    let exists = service.get("/v1/tenants/acme-corp/users/x/turns").await;
    exists.assert_problem(403, "tenant_mismatch");
    let exists = body(exists);
    for name in [
        "nobody",
        "Acme",
        "acme%20",
        "acme_corp",
        "%ff",
        "acme%2Fx",
        "...",
    ] {
        let answer = service
            .get(&format!("/v1/tenants/{name}/users/x/turns"))
            .await;
        answer.assert_problem(403, "tenant_mismatch");
        assert_eq!(body(answer), exists, "{name}");
    }
}

#[tokio::test]
async fn the_key_must_come_once_as_a_bearer() {
    let service = service().await;
    let path = format!("/v1/tenants/acme/users/{SOME_ID}/turns");
    let with = |value: String| get(&path).header("authorization", &value);
    let key = &service.key;
    for good in [
        format!("Bearer {key}"),
        format!("bearer {key}"),
        format!("Bearer  {key} "),
    ] {
        service.call(with(good)).await.assert_status(200);
    }
    for bad in [
        key.clone(),
        format!("Basic {key}"),
        "Bearer ".to_owned(),
        format!("Bearer{key}"),
    ] {
        service
            .call(with(bad))
            .await
            .assert_problem(401, "unauthorized");
    }
    service
        .call(get(&path).key(key).key(key))
        .await
        .assert_problem(401, "unauthorized");
}

#[tokio::test]
async fn an_operator_meets_an_unknown_tenant_as_unknown() {
    let service = service().await;
    for path in [
        "/v1/tenants/nobody/users/01J0000000000000000000000A/turns",
        "/admin/tenants/nobody",
        "/admin/tenants/No%20Body",
    ] {
        service
            .call(get(path).key(&service.operator))
            .await
            .assert_problem(404, "unknown_tenant");
    }
}
