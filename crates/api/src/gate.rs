//! The gate in front of every route that is not open: who calls, how often, and whether they may.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use throughline_domain::KeyId;
use throughline_tenancy::{Principal, Scope, Scopes, TenancyError, Token};
use throughline_wire::{Code, Outcome, paths};

use crate::authenticator::Authenticator;
use crate::caller::{Operator, Tenant};
use crate::epoch::{self, Epochs};
use crate::failure::Failure;
use crate::rate_limit::KeyLimiter;
use crate::routes::Access;
use crate::shared::Shared;
use crate::{Capabilities, Settings, path};

/// Where the capabilities live.
#[derive(Clone)]
pub(crate) struct Gate {
    capabilities: Arc<Capabilities>,
    authenticator: Arc<Authenticator>,
    limiter: Option<Arc<KeyLimiter>>,
    epochs: Epochs,
    shared: Shared,
}

impl Gate {
    pub(crate) fn new(capabilities: Capabilities, settings: &Settings, shared: Shared) -> Self {
        let tenancy = Arc::clone(&capabilities.tenancy);
        let epochs = Epochs::new(Arc::clone(&tenancy));
        Self {
            epochs,
            shared,
            capabilities: Arc::new(capabilities),
            authenticator: Arc::new(Authenticator::new(tenancy, settings)),
            limiter: settings
                .rate_limit
                .map(|limit| Arc::new(KeyLimiter::new(limit))),
        }
    }

    /// Lets the request through with its [`Tenant`] and [`Operator`], or refuses it.
    pub(crate) async fn pass(
        self,
        access: Access,
        template: &'static str,
        request: Request,
        next: Next,
    ) -> Result<Response, Failure> {
        let token = bearer(request.headers())?;
        let holder = self.authenticator.holder(&token).await;
        let holder = holder.map_err(|error| self.no_answer(error, request.method(), template))?;
        let principal = holder.ok_or_else(|| {
            Failure::new(Code::Unauthorized, "the key is not known or is revoked")
        })?;
        if let Some(limiter) = &self.limiter {
            limiter.check(key_of(&principal))?;
        }
        let (mut parts, body) = request.into_parts();
        let named = template
            .starts_with("/v1/tenants/{tenant}/")
            .then(|| path::part(&parts, "tenant"));
        let mut epoch = None;
        match &*principal {
            Principal::Operator { actor, .. } => {
                if let Some(name) = named {
                    let id = path::tenant(&name?)?;
                    tracing::Span::current().record("tenant.id", id.as_str());
                    epoch = self.epochs.of(&id).await;
                    let to = Arc::clone(&self.capabilities);
                    let tenant = Tenant::new(id, true, None, epoch, to);
                    parts.extensions.insert(tenant);
                }
                let operator = Operator::new(
                    actor.clone(),
                    self.capabilities,
                    self.authenticator,
                    self.epochs.clone(),
                );
                parts.extensions.insert(operator);
            }
            Principal::Tenant {
                tenant,
                key,
                scopes,
                suspended,
            } => {
                tracing::Span::current().record("tenant.id", tenant.as_str());
                // Any other name gets this answer, one that is no UTF-8 too.
                let own =
                    |name: Result<String, Failure>| name.is_ok_and(|name| name == tenant.as_str());
                if named.is_some_and(|name| !own(name)) {
                    let detail = "the key belongs to another tenant than the path names";
                    return Err(Failure::new(Code::TenantMismatch, detail));
                }
                if *suspended {
                    let detail = "the tenant is suspended; ask an operator to resume it";
                    return Err(Failure::new(Code::TenantSuspended, detail));
                }
                require(access, scopes)?;
                let describes = scopes.contains(Scope::IdentityResolve);
                epoch = self.epochs.of(tenant).await;
                let (id, to) = (tenant.clone(), self.capabilities);
                let tenant = Tenant::new(id, describes, Some(*key), epoch, to);
                parts.extensions.insert(tenant);
            }
        }
        let mut response = next.run(Request::from_parts(parts, body)).await;
        epoch::stamp(&mut response, epoch);
        Ok(response)
    }

    /// The store did not say whose key it is. An append that ends here is as lost as one that ends at the
    /// store, and the caller may repeat it; how many turns a batch holds nobody has read.
    fn no_answer(&self, error: TenancyError, method: &Method, template: &str) -> Failure {
        let mut failure = Failure::from(error);
        let appends = method == Method::POST && [paths::TURNS, paths::BATCH].contains(&template);
        if appends {
            self.shared.counters.append_not_sent();
            failure.problem = failure.problem.with_outcome(Outcome::NotStored);
        }
        failure
    }
}

/// `Authorization: Bearer <key>`, once.
fn bearer(headers: &HeaderMap) -> Result<Token, Failure> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let token = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().and_then(|text| text.split_once(' ')),
        _ => None,
    };
    token
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .filter(|token| !token.is_empty())
        .map(Token::from_header)
        .ok_or_else(|| {
            let detail = "a key is needed: send authorization: bearer with one";
            Failure::new(Code::Unauthorized, detail)
        })
}

fn key_of(principal: &Principal) -> KeyId {
    match principal {
        Principal::Tenant { key, .. } | Principal::Operator { key, .. } => *key,
    }
}

/// What a tenant's key needs.
fn require(access: Access, scopes: &Scopes) -> Result<(), Failure> {
    let detail = match access {
        Access::Open => return Ok(()),
        Access::Scope(scope) if scopes.contains(scope) => return Ok(()),
        Access::Scope(scope) => format!("the key needs the scope {scope}"),
        Access::Operator => "only an operator may do this".to_owned(),
    };
    Err(Failure::new(Code::Forbidden, detail))
}
