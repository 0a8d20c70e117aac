//! `/v1/tenants/{tenant}/users/{user_id}`

mod context;
mod recent;
mod user;

pub(crate) use context::context;
pub(crate) use recent::{bodies, recent};
pub(crate) use user::user;
