//! A small HTTP client for the service's own API: plain and TLS, one request at a time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use secrecy::{ExposeSecret as _, SecretString};

use crate::failure::{Failure, chain};

const ANSWER_BYTES: usize = 64 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_mins(1);

/// One server, one key.
pub(crate) struct ApiClient {
    base: String,
    authorization: HeaderValue,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Its status.
    pub(crate) status: StatusCode,
    /// How long the server asks to wait.
    pub(crate) retry_after: Option<Duration>,
    /// Its body.
    pub(crate) body: Bytes,
}

/// No answer, or only a part of one: whether the request was done is not known.
#[derive(Debug, thiserror::Error)]
#[error("no answer: {0}")]
pub(crate) struct NoAnswer(String);

impl ApiClient {
    /// A client for `http://` or `https://` at `url`, whose certificate the machine must trust.
    pub(crate) fn new(url: &str, key: &SecretString) -> Result<Self, Failure> {
        let base = url.trim_end_matches('/').to_owned();
        let secure = match base.parse::<Uri>().ok().and_then(|uri| {
            uri.authority()?;
            uri.scheme_str().map(str::to_owned)
        }) {
            Some(scheme) if scheme == "http" => false,
            Some(scheme) if scheme == "https" => true,
            _ => {
                let text = format!("--url {url:?}: give an address such as http://127.0.0.1:8080");
                return Err(Failure::usage("invalid_url", text));
            }
        };
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))
            .map_err(|_| {
            Failure::usage(
                "invalid_key",
                "the key has characters that no key has; check it",
            )
        })?;
        authorization.set_sensitive(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(secure)?)
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self {
            base,
            authorization,
            client: Client::builder(TokioExecutor::new()).build(connector),
        })
    }

    /// Sends one request and reads the whole answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Answer, NoAnswer> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|error| NoAnswer(error.to_string()))?;
        match tokio::time::timeout(TIMEOUT, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(NoAnswer("none within a minute".to_owned())),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answer, NoAnswer> {
        let response = self.client.request(request).await;
        let response = response.map_err(|error| NoAnswer(chain(&error)))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| NoAnswer(chain(&*error)))?.to_bytes();
        let retry_after = head.headers.get(RETRY_AFTER).and_then(seconds);
        Ok(Answer {
            status: head.status,
            retry_after,
            body,
        })
    }
}

fn seconds(value: &HeaderValue) -> Option<Duration> {
    let seconds = value.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The machine's trusted roots; for plain HTTP none are looked up, so that it works where there are none.
fn tls(secure: bool) -> Result<ClientConfig, Failure> {
    let mut roots = RootCertStore::empty();
    if secure {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err(Failure::failed(
                "no_roots",
                "this machine trusts no certificate authority; install ca-certificates",
            ));
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::caused("no_tls", "TLS cannot be set up", &error))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
