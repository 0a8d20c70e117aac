//! `/admin/…`

mod audit;
mod jobs;
mod keys;
mod tenants;
