//! Many callers at once.

use std::sync::Arc;

use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// Runs every future on a task of its own, all let go at the same moment, and gives their answers in
/// the order of the futures.
pub(super) async fn together<F>(futures: Vec<F>) -> Vec<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let start = Arc::new(Barrier::new(futures.len()));
    let mut tasks = JoinSet::new();
    for (place, future) in futures.into_iter().enumerate() {
        let start = start.clone();
        tasks.spawn(async move {
            start.wait().await;
            (place, future.await)
        });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
