//! Every route: method, path, who may call it, and its handler. One line each.
//!
//! The router is built from this list and the authorisation test walks it, so that a line cannot be
//! added without saying who may pass.

use std::sync::LazyLock;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use throughline_tenancy::Scope::{self, IdentityMerge, IdentityResolve, TurnsRead, TurnsWrite};
use throughline_wire::paths;

use crate::shared::Shared;
use crate::{admin, operation, v1};

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Open,
    /// A key of the tenant in the path with this scope, or an operator.
    Scope(Scope),
    /// An operator.
    Operator,
}

/// A route as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteInfo {
    /// The method.
    pub method: Method,
    /// The path template.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
}

pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) handler: MethodRouter<Shared>,
}

impl Route {
    /// Whether what is sent here are turns to keep.
    pub(crate) fn appends(&self) -> bool {
        let paths = [paths::TURNS, paths::BATCH, paths::OUTBOX];
        self.method == Method::POST && paths.contains(&self.path)
    }
}

/// The list, for tests and documentation.
pub fn route_list() -> Vec<RouteInfo> {
    let info = |route: &Route| RouteInfo {
        method: route.method.clone(),
        path: route.path,
        access: route.access,
    };
    all().iter().map(info).collect()
}

pub(crate) fn all() -> &'static [Route] {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(list);
    &ROUTES
}

#[rustfmt::skip]
fn list() -> Vec<Route> {
    use Access::{Open, Operator};
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    const PUT: Method = Method::PUT;
    const PATCH: Method = Method::PATCH;
    const DELETE: Method = Method::DELETE;
    let read = Access::Scope(TurnsRead);
    let write = Access::Scope(TurnsWrite);
    let resolve = Access::Scope(IdentityResolve);
    let merge = Access::Scope(IdentityMerge);
    vec![
        route(POST,   paths::RESOLVE,       resolve,  v1::identities::resolve),
        route(GET,    paths::IDENTITIES,    resolve,  v1::identities::lookup),
        route(GET,    paths::USER,          resolve,  v1::users::user),
        route(DELETE, paths::USER,          Operator, v1::users::erase),
        route(GET,    paths::RECENT,        read,     v1::users::recent),
        route(GET,    paths::CONTEXT,       read,     v1::users::context),
        route(POST,   paths::TURNS,         write,    v1::turns::append),
        route(POST,   paths::BATCH,         write,    v1::turns::batch),
        route(POST,   paths::OUTBOX,        write,    v1::outbox::enqueue),
        route(GET,    paths::HISTORY,       read,     v1::history::read),
        route(DELETE, paths::HISTORY,       write,    v1::history::clear),
        route(POST,   paths::MERGES,        merge,    v1::merges::merge),
        route(GET,    paths::MERGES,        Operator, v1::merges::list),
        route(DELETE, paths::MERGE,         Operator, v1::merges::undo),
        route(POST,   paths::ADMIN_TENANTS, Operator, admin::tenants::create),
        route(GET,    paths::ADMIN_TENANTS, Operator, admin::tenants::list),
        route(GET,    paths::ADMIN_TENANT,  Operator, admin::tenants::read),
        route(PUT,    paths::ADMIN_TENANT,  Operator, admin::tenants::replace),
        route(PATCH,  paths::ADMIN_TENANT,  Operator, admin::tenants::change),
        route(POST,   paths::ADMIN_KEYS,    Operator, admin::keys::mint),
        route(GET,    paths::ADMIN_KEYS,    Operator, admin::keys::list),
        route(DELETE, paths::ADMIN_KEY,     Operator, admin::keys::revoke),
        route(GET,    paths::ADMIN_OUTBOX,  Operator, admin::outbox::list),
        route(POST,   paths::ADMIN_OUTBOX_REQUEUE, Operator, admin::outbox::requeue),
        route(DELETE, paths::ADMIN_OUTBOX_ENTRY, Operator, admin::outbox::discard),
        route(GET,    paths::ADMIN_REVIEWS, Operator, admin::reviews::list),
        route(POST,   paths::ADMIN_REVIEW_ACCEPT,  Operator, admin::reviews::accept),
        route(POST,   paths::ADMIN_REVIEW_DECLINE, Operator, admin::reviews::decline),
        route(GET,    paths::ADMIN_AUDIT,   Operator, admin::audit::list),
        route(GET,    paths::ADMIN_AUDIT_EXPORT, Operator, admin::audit::export),
        route(POST,   paths::ADMIN_CLAIM_REVOKE, Operator, admin::claims::revoke),
        route(POST,   paths::ADMIN_JOB_RUN, Operator, admin::jobs::run),
        route(POST,   paths::OPERATOR_KEYS, Operator, admin::operator_keys::mint),
        route(GET,    paths::OPERATOR_KEYS, Operator, admin::operator_keys::list),
        route(DELETE, paths::OPERATOR_KEY,  Operator, admin::operator_keys::revoke),
        route(GET,    paths::LIVEZ,         Open,     operation::livez),
        route(GET,    paths::HEALTHZ,       Open,     operation::livez),
        route(GET,    paths::READYZ,        Open,     operation::readyz),
        route(GET,    paths::OPENAPI,       Open,     operation::openapi),
        // Open to whoever has the metrics token; the handler looks.
        route(GET,    paths::METRICS,       Open,     operation::metrics),
        route(GET,    paths::CCM_METRICS,   Open,     operation::metrics),
    ]
}

fn route<H, T>(method: Method, path: &'static str, access: Access, handler: H) -> Route
where
    H: Handler<T, Shared>,
    T: 'static,
{
    let filter = MethodFilter::try_from(method.clone()).expect("the list uses usual methods only");
    Route {
        method,
        path,
        access,
        handler: on(filter, handler),
    }
}
