//! Who a key speaks for.

use std::fmt;

use throughline_domain::{Actor, KeyId, TenantId};

/// What a tenant's key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Append turns and clear a channel scope.
    TurnsWrite,
    /// Read turns, history and the context block.
    TurnsRead,
    /// Resolve and look up channel users.
    IdentityResolve,
    /// Propose and make merges.
    IdentityMerge,
}

impl Scope {
    /// Every scope there is.
    pub const ALL: [Self; 4] = [
        Self::TurnsWrite,
        Self::TurnsRead,
        Self::IdentityResolve,
        Self::IdentityMerge,
    ];

    /// The word in keys, SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TurnsWrite => "turns:write",
            Self::TurnsRead => "turns:read",
            Self::IdentityResolve => "identity:resolve",
            Self::IdentityMerge => "identity:merge",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The word names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no scope; there are turns:write, turns:read, identity:resolve, identity:merge")]
pub struct UnknownScope(pub String);

impl std::str::FromStr for Scope {
    type Err = UnknownScope;
    fn from_str(word: &str) -> Result<Self, UnknownScope> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == word)
            .ok_or_else(|| UnknownScope(word.to_owned()))
    }
}

/// A set of scopes, in a fixed order, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(Vec<Scope>);

impl Scopes {
    /// Every scope.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// Whether the scope is in the set.
    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = Scope> + '_ {
        self.0.iter().copied()
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        let mut list: Vec<Scope> = scopes.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        Self(list)
    }
}

/// The holder of a valid key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// A client of one tenant.
    Tenant {
        /// Its tenant.
        tenant: TenantId,
        /// The key it came with.
        key: KeyId,
        /// What it may do.
        scopes: Scopes,
        /// Whether its tenant is suspended: then every call is refused.
        suspended: bool,
    },
    /// A named operator, for every tenant.
    Operator {
        /// Who is written to the audit trail.
        actor: Actor,
        /// The key they came with.
        key: KeyId,
    },
}
