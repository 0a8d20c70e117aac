//! `/v1/tenants/{tenant}/users/{user_id}`

mod context;
mod erase;
mod recent;
mod user;

pub(crate) use context::context;
pub(crate) use erase::erase;
pub(crate) use recent::{bodies, recent};
pub(crate) use user::user;
