//! The contract suites on the in-memory store, and what is its own: many tasks, equal ids in two
//! tenants, the cost of a long history, the development key.

mod cached;
mod contract;
mod cost;
mod equal_ids;
mod seed_key;
mod subject;
mod tasks;
