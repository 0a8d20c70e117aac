//! Which key speaks for which tenant.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use http::HeaderValue;
use parking_lot::RwLock;
use throughline_domain::TenantId;
use throughline_tenancy::{KeyOwner, Token};

use crate::InvalidSetup;

/// The access keys that a client calls with. Clones share them, so that a key can be added or replaced
/// while clients run. Prints no secret.
#[derive(Clone, Default)]
pub struct Keys(Arc<RwLock<Held>>);

#[derive(Default)]
struct Held {
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
        let keys = Self::none();
        keys.0.write().any = Some(Key::new(key)?);
        Ok(keys)
    }

    /// No key yet.
    pub fn none() -> Self {
        Self::default()
    }

    /// Speaks for this tenant with this key from now on, before any other.
    pub fn set(&self, tenant: TenantId, key: &str) -> Result<(), InvalidSetup> {
        let key = Key::new(key)?;
        self.0.write().tenants.insert(tenant, key);
        Ok(())
    }

    /// Does what only operators may do with this key from now on; it also speaks for tenants that have
    /// none.
    pub fn set_operator(&self, key: &str) -> Result<(), InvalidSetup> {
        self.0.write().operator = Some(Key::new(key)?);
        Ok(())
    }

    /// Forgets the tenant's own key.
    pub fn remove(&self, tenant: &TenantId) {
        self.0.write().tenants.remove(tenant);
    }

    pub(crate) fn of(&self, tenant: &TenantId) -> Option<Key> {
        let held = self.0.read();
        let own = held.tenants.get(tenant).or(held.any.as_ref());
        own.or(held.operator.as_ref()).cloned()
    }

    pub(crate) fn for_operators(&self, tenant: &TenantId) -> Option<Key> {
        let operator = self.0.read().operator.clone();
        operator.or_else(|| self.of(tenant))
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
        write!(f, "Keys(***, {} tenants)", self.0.read().tenants.len())
    }
}

#[cfg(test)]
mod tests {
    use throughline_domain::KeyId;

    use super::*;

    fn token(owner: &KeyOwner) -> String {
        let token = Token::assemble(owner, KeyId::from_u128(1), &[7; 32]);
        token.reveal().to_owned()
    }

    #[test]
    fn a_tenants_own_key_comes_first_and_the_operators_only_where_it_is_needed() {
        let acme = TenantId::parse("acme").unwrap();
        let other = TenantId::parse("other").unwrap();
        let own = token(&KeyOwner::Tenant(acme.clone()));
        let keys = Keys::none();
        keys.set(acme.clone(), &own).unwrap();
        assert!(keys.of(&acme).is_some() && keys.of(&other).is_none());
        keys.set_operator(&token(&KeyOwner::Operator)).unwrap();
        assert!(!keys.of(&acme).unwrap().operator);
        assert!(keys.for_operators(&acme).unwrap().operator);
        assert!(keys.of(&other).unwrap().operator);
        keys.remove(&acme);
        assert!(keys.of(&acme).unwrap().operator);
    }

    // failures.md 33
    #[test]
    fn no_key_is_printed_and_an_unusable_one_refused() {
        let keys = Keys::one("sentinel").unwrap();
        let header = keys.0.read().any.clone().unwrap().header;
        assert!(!format!("{keys:?} {header:?}").contains("sentinel"));
        for bad in ["", " ", "a\nb"] {
            assert!(Keys::one(bad).is_err(), "{bad:?}");
        }
    }
}
