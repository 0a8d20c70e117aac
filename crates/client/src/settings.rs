//! How long, how often, how much.

use std::time::Duration;

/// The limits of every call. The defaults suit a plugin whose bot waits for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The longest a call takes, all its attempts and the waits between them included.
    pub deadline: Duration,
    /// The longest one attempt takes; a connection that swallows requests costs this much and no more.
    pub attempt: Duration,
    /// The longest it may take to connect.
    pub connect: Duration,
    /// How often a call is repeated at most.
    pub retries: u32,
    /// The wait before the first repetition, doubled for each further one; a random half is taken off.
    pub first_wait: Duration,
    /// The longest such wait. A server that asks for more with `Retry-After` is given more.
    pub longest_wait: Duration,
    /// How many bytes of turns go into one request of a batch. Below the service's `body_limit`.
    pub batch_bytes: usize,
    /// The largest answer that is read.
    pub answer_bytes: usize,
    /// How many connections without work are kept.
    pub idle_connections: usize,
    /// For how long they are kept.
    pub idle: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(10),
            attempt: Duration::from_secs(3),
            connect: Duration::from_secs(1),
            retries: 4,
            first_wait: Duration::from_millis(50),
            longest_wait: Duration::from_secs(1),
            batch_bytes: 2 * 1024 * 1024,
            // A page of a hundred turns at their limits, escaped.
            answer_bytes: 512 * 1024 * 1024,
            idle_connections: 32,
            idle: Duration::from_secs(30),
        }
    }
}
