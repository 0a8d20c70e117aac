//! `/admin/…`

mod jobs;
mod keys;
mod tenants;
