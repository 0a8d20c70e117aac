//! A client, and how one is made.

use std::fmt;
use std::sync::Arc;

use rustls::ClientConfig;
use throughline_domain::{Ids, SystemIds};

use crate::connections::{Connections, base, connections, machine_tls};
use crate::{Epochs, Keys, Settings, TraceContext};

/// The capabilities of a service at one address. Cheap to clone; all clones share their connections.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) base: String,
    pub(crate) keys: Keys,
    pub(crate) connections: Connections,
    pub(crate) settings: Settings,
    pub(crate) epochs: Epochs,
    pub(crate) ids: Arc<dyn Ids>,
    trace: TraceSource,
}

type TraceSource = Box<dyn Fn() -> Option<TraceContext> + Send + Sync>;

/// A client cannot be made like that.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSetup {
    /// No address of a service.
    #[error("the address is not usable; give one such as https://memory.example.org")]
    Url,
    /// No key.
    #[error("the key is empty or has characters that no key has; check it")]
    Key,
    /// HTTPS, and nobody to trust.
    #[error(
        "this machine trusts no certificate authority; install ca-certificates or give a tls configuration"
    )]
    NoRoots,
    /// No TLS.
    #[error("tls cannot be set up")]
    Tls(#[source] rustls::Error),
}

/// What a client is to be like.
pub struct ClientBuilder {
    url: String,
    keys: Keys,
    settings: Settings,
    tls: Option<ClientConfig>,
    ids: Arc<dyn Ids>,
    trace: TraceSource,
}

impl Client {
    /// A client of the service at that address; nothing is sent before the first call.
    pub fn builder(url: &str, keys: Keys) -> ClientBuilder {
        ClientBuilder {
            url: url.to_owned(),
            keys,
            settings: Settings::default(),
            tls: None,
            ids: Arc::new(SystemIds),
            trace: Box::new(TraceContext::current),
        }
    }

    /// The erasure epochs that came with the answers.
    pub fn epochs(&self) -> &Epochs {
        &self.0.epochs
    }

    pub(crate) fn trace(&self) -> Option<TraceContext> {
        (self.0.trace)()
    }
}

impl ClientBuilder {
    /// Other limits.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Another trust than the machine's: a private authority, a client's certificate. Build it on
    /// aws-lc-rs, as everything else here is.
    #[must_use]
    pub fn tls(mut self, tls: ClientConfig) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Where the randomness of the waits comes from.
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Where the trace context of a call comes from, for a host that keeps it elsewhere than in
    /// [`TraceContext::run`].
    #[must_use]
    pub fn traced_by(
        mut self,
        source: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.trace = Box::new(source);
        self
    }

    /// The client.
    pub fn build(self) -> Result<Client, InvalidSetup> {
        let (base, secure) = base(&self.url)?;
        let tls = match self.tls {
            Some(tls) => tls,
            None => machine_tls(secure)?,
        };
        Ok(Client(Arc::new(Inner {
            base,
            keys: self.keys,
            connections: connections(tls, &self.settings),
            settings: self.settings,
            epochs: Epochs::default(),
            ids: self.ids,
            trace: self.trace,
        })))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({}, {:?})", self.0.base, self.0.keys)
    }
}
