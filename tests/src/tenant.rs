//! A service on Postgres with a tenant and keys, made the way an operator makes them.

use serde_json::{Value, json};
use throughline_scratch_postgres::{Database, Shared};

use crate::{Client, Service, TEMPLATE, throughline};

/// The scopes a channel plugin and an orchestrator need together.
pub const CLIENT_SCOPES: [&str; 3] = ["turns:write", "turns:read", "identity:resolve"];

/// A database with the schema, copied from the run's template.
pub fn migrated_database() -> Database {
    let shared = Shared::attach().expect("a Postgres for this test run");
    shared
        .database_from_template(TEMPLATE, |url| {
            throughline(&["migrate"], &[("CCM_DATABASE_URL", url)]).succeeded();
            Ok::<(), std::io::Error>(())
        })
        .expect("the schema loads")
}

/// Mints an operator's key straight in the database.
pub fn operator_key(database_url: &str) -> String {
    let minted = throughline(
        &["admin", "operator", "mint", "--actor", "it", "--json"],
        &[("CCM_DATABASE_URL", database_url)],
    )
    .succeeded();
    let minted: Value = serde_json::from_str(&minted.stdout).expect("--json prints JSON");
    minted["key"]
        .as_str()
        .expect("the token is in it")
        .to_owned()
}

/// Makes a tenant over HTTP and a client of it with these scopes.
pub async fn tenant_client(operator: &Client, tenant: &str, scopes: &[&str]) -> Client {
    operator
        .post("/admin/tenants", &json!({ "tenant": tenant }))
        .await
        .ok();
    let keys = format!("/admin/tenants/{tenant}/keys");
    let minted = operator
        .post(&keys, &json!({ "label": "it", "scopes": scopes }))
        .await
        .ok();
    operator.with_key(minted["key"].as_str().expect("the token is in it"))
}

/// One service on one database, with tenant `acme`.
pub struct World {
    /// The service; first, so that it ends before its database goes.
    pub service: Service,
    /// Speaks for the operator.
    pub operator: Client,
    /// Speaks for tenant `acme`.
    pub acme: Client,
    /// Where it is kept.
    pub database: Database,
}

impl World {
    /// Starts it and waits until it is ready.
    pub async fn start() -> Self {
        let database = migrated_database();
        let key = operator_key(database.url());
        let mut service = Service::start(&[], &[("CCM_DATABASE_URL", database.url())]);
        service.ready().await;
        let operator = service.client(&key);
        let acme = tenant_client(&operator, "acme", &CLIENT_SCOPES).await;
        Self {
            service,
            operator,
            acme,
            database,
        }
    }
}
