//! Which key speaks for which tenant.

use std::collections::HashMap;
use std::fmt;

use http::HeaderValue;
use throughline_domain::TenantId;
use throughline_tenancy::{KeyOwner, Token};

use crate::InvalidSetup;

/// The access keys that a client calls with. Prints no secret.
#[derive(Clone, Default)]
pub struct Keys {
    any: Option<Key>,
    operator: Option<Key>,
    tenants: HashMap<TenantId, Key>,
}

/// A key as it goes over the wire.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) header: HeaderValue,
    pub(crate) operator: bool,
}

impl Keys {
    /// One key for every call: a tenant's, or an operator's for all tenants.
    pub fn one(key: &str) -> Result<Self, InvalidSetup> {
        Ok(Self {
            any: Some(Key::new(key)?),
            ..Self::default()
        })
    }

    /// No key yet; add some with [`with`](Self::with).
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with a key of this tenant, which is used for the tenant's calls before any other.
    pub fn with(mut self, tenant: TenantId, key: &str) -> Result<Self, InvalidSetup> {
        self.tenants.insert(tenant, Key::new(key)?);
        Ok(self)
    }

    /// The same with an operator's key, which is used for what only operators may do.
    pub fn with_operator(mut self, key: &str) -> Result<Self, InvalidSetup> {
        self.operator = Some(Key::new(key)?);
        Ok(self)
    }

    pub(crate) fn of(&self, tenant: &TenantId) -> Option<&Key> {
        let own = self.tenants.get(tenant).or(self.any.as_ref());
        own.or(self.operator.as_ref())
    }

    pub(crate) fn for_operators(&self, tenant: &TenantId) -> Option<&Key> {
        self.operator.as_ref().or_else(|| self.of(tenant))
    }
}

impl Key {
    fn new(key: &str) -> Result<Self, InvalidSetup> {
        let mut header =
            HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| InvalidSetup::Key)?;
        if key.trim().is_empty() {
            return Err(InvalidSetup::Key);
        }
        header.set_sensitive(true);
        let claims = Token::from_header(key).claims();
        let operator = matches!(claims, Some((KeyOwner::Operator, _)));
        Ok(Self { header, operator })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys(***, {} tenants)", self.tenants.len())
    }
}

#[cfg(test)]
mod tests {
    use throughline_domain::KeyId;

    use super::*;

    fn token(owner: KeyOwner) -> String {
        let token = Token::assemble(&owner, KeyId::from_u128(1), &[7; 32]);
        token.reveal().to_owned()
    }

    #[test]
    fn a_tenants_own_key_comes_first_and_the_operators_only_where_it_is_needed() {
        let acme = TenantId::parse("acme").unwrap();
        let other = TenantId::parse("other").unwrap();
        let own = token(KeyOwner::Tenant(acme.clone()));
        let keys = Keys::none().with(acme.clone(), &own).unwrap();
        assert!(keys.of(&acme).is_some() && keys.of(&other).is_none());
        let keys = keys.with_operator(&token(KeyOwner::Operator)).unwrap();
        assert!(!keys.of(&acme).unwrap().operator);
        assert!(keys.for_operators(&acme).unwrap().operator);
        assert!(keys.of(&other).unwrap().operator);
    }

    // failures.md 33
    #[test]
    fn no_key_is_printed_and_an_unusable_one_refused() {
        let keys = Keys::one("sentinel").unwrap();
        let header = &keys.any.as_ref().unwrap().header;
        assert!(!format!("{keys:?} {header:?}").contains("sentinel"));
        for bad in ["", " ", "a\nb"] {
            assert!(Keys::one(bad).is_err(), "{bad:?}");
        }
    }
}
