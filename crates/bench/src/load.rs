//! A closed loop: each caller sends its next call when the last one is answered.

use std::time::{Duration, Instant};

use tokio_util::task::TaskTracker;

use crate::fault::BenchError;
use crate::samples::Samples;

/// One caller of a load.
pub(crate) trait Caller: Send + 'static {
    /// One call. An error ends the measurement.
    fn call(&mut self) -> impl Future<Output = Result<(), BenchError>> + Send;
}

/// Lets the callers call for that long, each at its pace at most: `None` is as fast as it goes.
pub(crate) async fn closed_loop<C: Caller>(
    callers: Vec<C>,
    time: Duration,
    pace: Option<Duration>,
) -> Result<(Samples, Vec<C>), BenchError> {
    measured(callers, time, pace, false).await
}

/// Lets each caller call at that pace; a call that starts late has waited since it was due, so that one
/// stall is met by every call it held up.
pub(crate) async fn on_time<C: Caller>(
    callers: Vec<C>,
    time: Duration,
    pace: Duration,
) -> Result<(Samples, Vec<C>), BenchError> {
    measured(callers, time, Some(pace), true).await
}

async fn measured<C: Caller>(
    callers: Vec<C>,
    time: Duration,
    pace: Option<Duration>,
    since_due: bool,
) -> Result<(Samples, Vec<C>), BenchError> {
    let tasks = TaskTracker::new();
    let begun = Instant::now();
    let running: Vec<_> = callers
        .into_iter()
        .enumerate()
        .map(|(number, mut caller)| {
            tasks.spawn(async move {
                let mut micros = Vec::new();
                // Paced callers are spread over their interval.
                let offset =
                    pace.unwrap_or_default() / 64 * u32::try_from(number % 64).unwrap_or(0);
                let mut next = begun + offset;
                while begun.elapsed() < time {
                    let due = next;
                    if let Some(pace) = pace {
                        tokio::time::sleep_until(next.into()).await;
                        next += pace;
                    }
                    let sent = if since_due { due } else { Instant::now() };
                    caller.call().await?;
                    micros.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
                }
                Ok::<_, BenchError>((micros, caller))
            })
        })
        .collect();
    let (mut all, mut callers) = (Vec::new(), Vec::new());
    let mut failed = None;
    for task in running {
        match task
            .await
            .map_err(|error| BenchError::Answer(error.to_string()))?
        {
            Ok((micros, caller)) => {
                all.extend(micros);
                callers.push(caller);
            }
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok((Samples::new(all, begun.elapsed()), callers)),
    }
}
