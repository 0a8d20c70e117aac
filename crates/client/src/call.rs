//! One call, before it is sent.

use bytes::Bytes;
use http::Method;
use serde::Serialize;
use throughline_domain::TenantId;

/// What a repetition could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Nothing: the call reads, or the service knows it again.
    Always,
    /// Something twice: it is repeated only while it is certain that it was not done.
    WhileNotDone,
}

/// Whose key is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The tenant's, or an operator's.
    Anybody,
    /// An operator's; a tenant's would be refused, or ask for something else.
    Operator,
    /// The tenant's; an operator's would do more.
    Tenant,
}

/// A request, to be sent as often as it takes.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) tenant: &'a TenantId,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Bytes>,
    pub(crate) repeat: Repeat,
    pub(crate) speaker: Speaker,
}

impl<'a> Call<'a> {
    /// Reads.
    pub(crate) fn get(tenant: &'a TenantId, path: String) -> Self {
        Self::new(tenant, Method::GET, path, Repeat::Always)
    }

    /// Sends a body that the service knows again when it comes twice.
    pub(crate) fn idempotent(tenant: &'a TenantId, path: String, body: &impl Serialize) -> Self {
        Self::new(tenant, Method::POST, path, Repeat::Always).carrying(body)
    }

    /// Changes something, each time anew.
    pub(crate) fn change(tenant: &'a TenantId, method: Method, path: String) -> Self {
        Self::new(tenant, method, path, Repeat::WhileNotDone)
    }

    fn new(tenant: &'a TenantId, method: Method, path: String, repeat: Repeat) -> Self {
        Self {
            tenant,
            method,
            path,
            body: None,
            repeat,
            speaker: Speaker::Anybody,
        }
    }

    pub(crate) fn carrying(mut self, body: &impl Serialize) -> Self {
        let body =
            serde_json::to_vec(body).expect("a body of the wire holds text, numbers and JSON");
        self.body = Some(body.into());
        self
    }

    pub(crate) fn spoken_by(mut self, speaker: Speaker) -> Self {
        self.speaker = speaker;
        self
    }
}
