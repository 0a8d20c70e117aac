//! docs/api.md says what there is.

use throughline_api::route_list;

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
