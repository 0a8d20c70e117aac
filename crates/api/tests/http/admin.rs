//! `/admin/…`

mod keys;
mod tenants;
