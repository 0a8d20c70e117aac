//! Sending a call: one attempt, and as many more as are safe, of use and within the deadline.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use throughline_wire::{Refusal, headers};
use tokio::time::Instant;

use crate::answer::Answer;
use crate::backoff;
use crate::call::{Call, Repeat, Speaker};
use crate::client::Client;
use crate::keys::Key;
use crate::retry_after::retry_after;
use crate::{ClientError, Effect};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
const EPOCH: HeaderName = HeaderName::from_static(headers::ERASURE_EPOCH);

/// A call that failed: the last attempt's error, and what is known over all of them.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) error: ClientError,
    pub(crate) effect: Effect,
}

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Self {
        let effect = error.effect();
        Self { error, effect }
    }
}

/// One attempt that failed, and for how long the service asks to be left alone.
struct Attempt {
    error: ClientError,
    retry_after: Option<Duration>,
}

impl From<ClientError> for Attempt {
    fn from(error: ClientError) -> Self {
        Self {
            error,
            retry_after: None,
        }
    }
}

impl Client {
    /// The moment by which a call that starts now has ended.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.0.settings.deadline
    }

    /// Sends the call until it succeeds, further attempts are of no use or not safe, or the deadline
    /// leaves no time for one.
    pub(crate) async fn send(&self, call: &Call<'_>, by: Instant) -> Result<Answer, Failed> {
        let settings = &self.0.settings;
        let mut effect = Effect::None;
        let mut repetition = 0;
        loop {
            let attempt = match self.attempt(call, by).await {
                Ok(answer) => return Ok(answer),
                Err(attempt) => attempt,
            };
            if attempt.error.effect() == Effect::Unknown {
                effect = Effect::Unknown;
            }
            let safe = call.repeat == Repeat::Always || effect == Effect::None;
            let wait = backoff::wait(settings, repetition, &*self.0.ids)
                .max(attempt.retry_after.unwrap_or_default());
            let again = Instant::now().checked_add(wait);
            let in_time = again.is_some_and(|again| again < by);
            if repetition == settings.retries || !safe || !attempt.error.may_pass() || !in_time {
                let error = attempt.error;
                return Err(Failed { error, effect });
            }
            tracing::debug!(
                tenant.id = call.tenant.as_str(),
                wait_ms = wait.as_secs_f64() * 1_000.0,
                cause = %attempt.error,
                "a call is repeated"
            );
            tokio::time::sleep(wait).await;
            repetition += 1;
        }
    }

    fn key(&self, call: &Call<'_>) -> Result<Key, ClientError> {
        let keys = &self.0.keys;
        let key = match call.speaker {
            Speaker::Operator => keys.for_operators(call.tenant),
            Speaker::Anybody | Speaker::Tenant => keys.of(call.tenant),
        };
        let key = key.ok_or_else(|| ClientError::NoKey(call.tenant.clone()))?;
        match call.speaker {
            Speaker::Operator if !key.operator => Err(ClientError::OperatorOnly),
            Speaker::Tenant if key.operator => Err(ClientError::WouldMerge),
            _ => Ok(key),
        }
    }

    async fn attempt(&self, call: &Call<'_>, by: Instant) -> Result<Answer, Attempt> {
        let left = by.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ClientError::NotSent.into());
        }
        let within = left.min(self.0.settings.attempt);
        let key = self.key(call)?;
        let exchange = self.exchange(call, &key);
        let answered = tokio::time::timeout(within, exchange).await;
        answered.map_err(|_| ClientError::TooLate { within })?
    }

    async fn exchange(&self, call: &Call<'_>, key: &Key) -> Result<Answer, Attempt> {
        let request = self.request(call, key)?;
        let response = self.0.connections.request(request).await.map_err(|error| {
            if error.is_connect() {
                ClientError::NotConnected(Arc::new(error))
            } else {
                ClientError::Broken(Arc::new(error))
            }
        })?;
        let (head, body) = response.into_parts();
        self.note_epoch(call, &head.headers);
        let body = Limited::new(body, self.0.settings.answer_bytes);
        let body = body.collect().await;
        let body = body.map_err(|error| {
            // As large the next time: not a thing that passes.
            if error.is::<LengthLimitError>() {
                ClientError::unreadable(head.status.as_u16(), error)
            } else {
                ClientError::Broken(Arc::from(error))
            }
        })?;
        judge(Response::from_parts(head, body.to_bytes()))
    }

    fn request(&self, call: &Call<'_>, key: &Key) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut request = Request::new(Full::new(call.body.clone().unwrap_or_default()));
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = format!("{}{}", self.0.base, call.path)
            .parse()
            // The address was checked and the path is percent-encoded: only its length is left.
            .map_err(|_| ClientError::TooLong)?;
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, key.header.clone());
        headers.insert(ACCEPT, "application/json".parse().expect("plain ASCII"));
        if call.body.is_some() {
            headers.insert(
                CONTENT_TYPE,
                "application/json".parse().expect("plain ASCII"),
            );
        }
        if let Some(trace) = self.trace() {
            headers.insert(TRACEPARENT, trace.parent);
            if let Some(state) = trace.state {
                headers.insert(TRACESTATE, state);
            }
        }
        Ok(request)
    }

    fn note_epoch(&self, call: &Call<'_>, headers: &HeaderMap) {
        let epoch = headers.get(EPOCH).and_then(|value| value.to_str().ok());
        if let Some(epoch) = epoch.and_then(|text| text.parse().ok()) {
            self.0.epochs.note(call.tenant, epoch);
        }
    }
}

/// A success is a status from 200 to 299 and nothing else; a refusal has a code.
fn judge(response: Response<Bytes>) -> Result<Answer, Attempt> {
    let (head, body) = response.into_parts();
    let status = head.status.as_u16();
    if head.status.is_success() {
        return Ok(Answer { status, body });
    }
    let error = match serde_json::from_slice::<Refusal>(&body) {
        Ok(refusal) if refusal.status == status => ClientError::Refused(Box::new(refusal)),
        _ => ClientError::Foreign { status },
    };
    let retry_after = retry_after(&head.headers);
    Err(Attempt { error, retry_after })
}
