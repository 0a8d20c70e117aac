//! docs/api.md and /openapi.json say what there is.

use std::collections::BTreeSet;

use serde_json::Value;
use throughline_api::route_list;

use crate::service::{get, service};

#[test]
fn every_route_has_a_heading_and_every_heading_a_route() {
    let docs = include_str!("../../../../docs/api.md");
    let mut headings: Vec<&str> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'))
        .collect();
    let routes = route_list().into_iter();
    let mut routes: Vec<String> = routes
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    headings.sort_unstable();
    routes.sort_unstable();
    assert_eq!(headings, routes);
}

#[tokio::test]
async fn the_document_describes_every_route_and_names_only_what_it_holds() {
    let answer = service().await.call(get("/openapi.json")).await;
    answer.assert_status(200);
    let document = answer.json();
    for route in route_list() {
        let method = route.method.as_str().to_lowercase();
        let operation = &document["paths"][route.path][&method];
        assert!(
            operation["summary"].as_str().is_some_and(|s| !s.is_empty()),
            "{route:?}"
        );
        let answers = operation["responses"].as_object().unwrap();
        assert!(
            answers.keys().any(|status| status.starts_with('2')),
            "{route:?}"
        );
    }
    let mut named = BTreeSet::new();
    references(&document, &mut named);
    let held = document["components"]["schemas"].as_object().unwrap();
    let held: BTreeSet<String> = held
        .keys()
        .map(|name| format!("#/components/schemas/{name}"))
        .collect();
    assert_eq!(named, held);
}

fn references(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        Value::Object(fields) => fields.iter().for_each(|(name, item)| match item {
            Value::String(target) if name == "$ref" => drop(into.insert(target.clone())),
            item => references(item, into),
        }),
        _ => {}
    }
}
