//! The named human or system behind an operator's call.

use std::fmt;

use crate::{TextFault, check_text};

/// Who acts with an operator key: a name of 1..=128 bytes, written to the audit trail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor(String);

/// The name cannot stand in an audit trail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the actor's name is not usable")]
pub struct InvalidActor(#[source] TextFault);

impl Actor {
    /// The longest name accepted, in bytes.
    pub const MAX_BYTES: usize = 128;

    /// Checks the name; it is kept as written.
    pub fn parse(name: &str) -> Result<Self, InvalidActor> {
        check_text(name, 1, Self::MAX_BYTES).map_err(InvalidActor)?;
        Ok(Self(name.to_owned()))
    }

    /// The name as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
