//! A channel's durable history in front of a real service on a real Postgres.

mod channel;
mod desk;
mod examples;
mod faults;
mod outbox;
mod restarts;
