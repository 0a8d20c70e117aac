//! The parts of a path.

use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use throughline_domain::{KeyId, MergeId, ReviewId, TenantId, UserId};
use throughline_wire::{Code, Place};

use crate::failure::Failure;

/// The named part of the path, decoded on its own: another part that is no UTF-8 does not matter.
pub(crate) fn part(parts: &Parts, name: &'static str) -> Result<String, Failure> {
    let template = parts.extensions.get::<MatchedPath>();
    let template = template.map_or("", MatchedPath::as_str).split('/');
    let mut both = template.zip(parts.uri.path().split('/'));
    let is_named = |segment: &str| {
        let inner = segment.strip_prefix('{').and_then(|s| s.strip_suffix('}'));
        inner == Some(name)
    };
    let (_, value) = both
        .find(|(segment, _)| is_named(segment))
        .ok_or_else(|| Failure::internal("a handler asked for a part its path has not"))?;
    match percent_decode_str(value).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Place::Parameter(name)
            .invalid(format!("{name} is not UTF-8"))
            .into()),
    }
}

/// `{user_id}`.
pub(crate) struct PathUser(pub(crate) UserId);

/// `{merge_id}`.
pub(crate) struct PathMerge(pub(crate) MergeId);

/// `{review_id}`.
pub(crate) struct PathReview(pub(crate) ReviewId);

/// `{key_id}`.
pub(crate) struct PathKey(pub(crate) KeyId);

/// `{job}`: whatever was sent, for the list of jobs to know or not.
pub(crate) struct PathJob(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for PathJob {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(part(parts, "job")?))
    }
}

/// `{tenant}` on the operators' surface; a name that no tenant can have is one that no tenant has.
pub(crate) struct PathTenant(pub(crate) TenantId);

impl<S: Sync> FromRequestParts<S> for PathUser {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(id(parts, "user_id")?))
    }
}

impl<S: Sync> FromRequestParts<S> for PathMerge {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(id(parts, "merge_id")?))
    }
}

impl<S: Sync> FromRequestParts<S> for PathReview {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(id(parts, "review_id")?))
    }
}

impl<S: Sync> FromRequestParts<S> for PathKey {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(id(parts, "key_id")?))
    }
}

impl<S: Sync> FromRequestParts<S> for PathTenant {
    type Rejection = Failure;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(tenant(&part(parts, "tenant")?)?))
    }
}

/// The name, checked.
pub(crate) fn tenant(name: &str) -> Result<TenantId, Failure> {
    TenantId::parse(name)
        .map_err(|_| Failure::new(Code::UnknownTenant, "there is no tenant of this name"))
}

fn id<T: std::str::FromStr>(parts: &Parts, name: &'static str) -> Result<T, Failure> {
    let text = part(parts, name)?;
    let detail = || format!("{name} must be a ULID of 26 characters");
    text.parse()
        .map_err(|_| Place::Parameter(name).invalid(detail()).into())
}
