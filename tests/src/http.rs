//! An HTTP client that speaks JSON and never panics on an error answer.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// Talks to one service with one key.
#[derive(Clone)]
pub struct Client {
    base: String,
    key: String,
    hyper: Hyper<HttpConnector, Full<Bytes>>,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as JSON; a string when it is not JSON.
    pub body: Value,
}

impl Answer {
    /// The body, when the status is a success.
    pub fn ok(self) -> Value {
        assert!(self.status.is_success(), "{self:#?}");
        self.body
    }

    /// The problem's code.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

impl Client {
    /// A client of the service at that address.
    pub fn new(base: impl Into<String>, key: impl Into<String>) -> Self {
        let hyper = Hyper::builder(TokioExecutor::new()).build_http();
        Self {
            base: base.into(),
            key: key.into(),
            hyper,
        }
    }

    /// The service's address.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// The key it speaks with.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The same service with another key.
    #[must_use]
    pub fn with_key(&self, key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            ..self.clone()
        }
    }

    /// `GET`.
    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None)
            .await
            .expect("the service answers")
    }

    /// `POST` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call(Method::POST, path, Some(body))
            .await
            .expect("the service answers")
    }

    /// `DELETE`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, None)
            .await
            .expect("the service answers")
    }

    /// Any call; `Err` when the connection fails or nothing comes for 30 seconds.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("authorization", format!("Bearer {}", self.key));
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = Full::from(body.map(Value::to_string).unwrap_or_default());
        let exchange = async {
            let answer = self.hyper.request(request.body(body)?).await?;
            let (parts, body) = answer.into_parts();
            let bytes = body.collect().await?.to_bytes();
            let body = serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes).into_owned()));
            Ok(Answer {
                status: parts.status,
                headers: parts.headers,
                body,
            })
        };
        tokio::time::timeout(Duration::from_secs(30), exchange).await?
    }
}
