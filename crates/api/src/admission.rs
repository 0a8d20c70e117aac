//! How many requests are served at once, and for how long.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use throughline_wire::{Code, Outcome, Problem};
use tokio::sync::Semaphore;

use crate::Settings;
use crate::failure::Failure;
use crate::shared::Shared;

/// Shared by all routes that are not open: health and metrics answer even when the house is full.
#[derive(Clone)]
pub(crate) struct Admission {
    places: Arc<Semaphore>,
    time: Duration,
    shared: Shared,
}

impl Admission {
    pub(crate) fn new(settings: &Settings, shared: Shared) -> Self {
        Self {
            places: Arc::new(Semaphore::new(settings.max_concurrency)),
            time: settings.request_timeout,
            shared,
        }
    }

    /// Turns the request away at once when all places are taken: a queue would only make everybody
    /// late. A turn that is lost to its caller here never meets the handler that would count it.
    pub(crate) async fn admit(
        self,
        appends: bool,
        request: Request,
        next: Next,
    ) -> Result<Response, Failure> {
        let counters = &self.shared.counters;
        let _place = self.places.try_acquire().map_err(|_| {
            if appends {
                counters.append_turned_away();
            }
            let detail = "the service has too many requests at once; repeat a little later";
            Problem::new(Code::Overloaded, detail).retry_after(1)
        })?;
        let changes = !request.method().is_safe();
        let served = tokio::time::timeout(self.time, next.run(request)).await;
        served.map_err(|_| {
            if appends {
                counters.append_cut_off();
            }
            let detail = "the request took too long; repeat it, an append with the same key";
            let problem = Problem::new(Code::Unavailable, detail).retry_after(1);
            // It may still have been done.
            if changes {
                problem.with_outcome(Outcome::Unknown).into()
            } else {
                problem.into()
            }
        })
    }
}
