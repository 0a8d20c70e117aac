//! The parts of a path.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use throughline_domain::{KeyId, TenantId, UserId};
use throughline_wire::{Code, Place};

use crate::failure::Failure;

/// The named part of the path, decoded.
pub(crate) async fn part(parts: &mut Parts, name: &str) -> Result<Option<String>, Failure> {
    let params = RawPathParams::from_request_parts(parts, &())
        .await
        .map_err(|_| Failure::new(Code::InvalidParameter, "the path is not UTF-8"))?;
    let value = params.iter().find(|(n, _)| *n == name);
    Ok(value.map(|(_, value)| value.to_owned()))
}

/// `{user_id}`.
pub(crate) struct PathUser(pub(crate) UserId);

/// `{key_id}`.
pub(crate) struct PathKey(pub(crate) KeyId);

/// `{tenant}` on the operators' surface; a name that no tenant can have is one that no tenant has.
pub(crate) struct PathTenant(pub(crate) TenantId);

impl<S: Sync> FromRequestParts<S> for PathUser {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(id(parts, "user_id").await?))
    }
}

impl<S: Sync> FromRequestParts<S> for PathKey {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(id(parts, "key_id").await?))
    }
}

impl<S: Sync> FromRequestParts<S> for PathTenant {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let name = part(parts, "tenant").await?.unwrap_or_default();
        Ok(Self(tenant(&name)?))
    }
}

/// The name, checked.
pub(crate) fn tenant(name: &str) -> Result<TenantId, Failure> {
    TenantId::parse(name)
        .map_err(|_| Failure::new(Code::UnknownTenant, "there is no tenant of this name"))
}

async fn id<T: std::str::FromStr>(parts: &mut Parts, name: &'static str) -> Result<T, Failure> {
    let text = part(parts, name).await?.unwrap_or_default();
    let detail = || format!("{name} must be a ULID of 26 characters");
    text.parse()
        .map_err(|_| Place::Parameter(name).invalid(detail()).into())
}
