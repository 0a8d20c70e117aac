//! The router, built from the list of routes.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use prometheus::Registry;
use throughline_wire::Code;

use crate::admission::Admission;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::observe::observe;
use crate::routes::{self, Access, Route};
use crate::shared::Shared;
use crate::{Capabilities, Draining, Settings};

/// The whole surface. Registers its metrics on `registry`, which must not have them yet, and serves
/// what `registry` holds at `/metrics`.
pub fn router(
    capabilities: Capabilities,
    settings: &Settings,
    registry: &Registry,
    draining: Draining,
) -> Result<Router, prometheus::Error> {
    let shared = Shared::new(&capabilities, settings, registry, draining)?;
    let gate = Gate::new(capabilities, settings, shared.clone());
    let admission = Admission::new(settings, shared.clone());
    let router = routes::all().iter().fold(Router::new(), |router, route| {
        add(router, route, &gate, &admission)
    });
    Ok(router
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(middleware::from_fn_with_state(shared.clone(), observe))
        .with_state(shared))
}

fn add(
    router: Router<Shared>,
    route: &'static Route,
    gate: &Gate,
    admission: &Admission,
) -> Router<Shared> {
    let handler = route.handler.clone();
    if route.access == Access::Open {
        return router.route(route.path, handler);
    }
    let gate = gate.clone();
    let through_the_gate = middleware::from_fn(move |request: Request, next: Next| {
        gate.clone().pass(route.access, route.path, request, next)
    });
    let admission = admission.clone();
    let appends = route.appends();
    let admitted = middleware::from_fn(move |request: Request, next: Next| {
        admission.clone().admit(appends, request, next)
    });
    // The last layer is the outermost; `route_layer` leaves a wrong method to its own answer.
    router.route(
        route.path,
        handler.route_layer(through_the_gate).route_layer(admitted),
    )
}

async fn no_route() -> Failure {
    Failure::new(Code::NotFound, "there is no such path; see docs/api.md")
}

async fn no_method() -> Failure {
    let detail = "the path has no such method; see the allow header";
    Failure::new(Code::MethodNotAllowed, detail)
}
