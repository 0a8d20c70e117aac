//! What adapters left with the service while it could not take it, stored at once.

use std::time::{Duration, Instant};

use serde_json::json;
use throughline_tests::World;

/// Runs the job that the service runs every few seconds. One that runs already is waited for.
pub(super) async fn drain(world: &World) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let ran = world
            .operator
            .post("/admin/jobs/outbox/run", &json!({}))
            .await;
        if ran.status.is_success() {
            return;
        }
        assert_eq!(ran.status, 409, "{ran:?}");
        assert!(Instant::now() < deadline, "it runs for ever");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
