//! Bodies of the operators' surface: tenants and keys.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use throughline_domain::{Actor, KeyId, TenantId, TextFault, Timestamp, check_text};
use throughline_tenancy::{KeyRecord, MintedKey, NewKey, Scope, Scopes, Tenant, TenantConfig};
use utoipa::ToSchema;

use crate::decode::expected;
use crate::{Code, Place, Problem, text_problem};

const MAX_LABEL_BYTES: usize = 128;

/// `POST /admin/tenants`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreateTenantBody {
    /// The new tenant's name.
    pub tenant: String,
    /// What differs from the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub config: Option<Map<String, Value>>,
}

/// `PATCH /admin/tenants/{tenant}`, and `PUT`, where an absent value of `config` is its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConfigureTenantBody {
    /// The values to set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub config: Option<Map<String, Value>>,
    /// Change nothing unless this is the revision in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_revision: Option<u64>,
    /// `active` or `suspended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// Sets the given values over `base`. A value that no release knows is refused, unlike elsewhere: a
/// misspelt rule that is ignored would look like one in force.
pub fn merge_config(
    base: &TenantConfig,
    changes: &Map<String, Value>,
) -> Result<TenantConfig, Problem> {
    let invalid = |name: &str, detail: String| {
        let pointer = format!("/config/{}", name.replace('~', "~0").replace('/', "~1"));
        Problem::new(Code::InvalidConfig, detail).at(pointer)
    };
    let mut config = base.clone();
    for (name, value) in changes {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&config) else {
            return Err(invalid(
                name,
                "the configuration cannot be changed".to_owned(),
            ));
        };
        let Some(former) = fields.get(name) else {
            let known: Vec<&str> = fields.keys().map(String::as_str).collect();
            let detail = format!("there is no such value; there are {}", known.join(", "));
            return Err(invalid(name, detail));
        };
        let numeric = former.is_number();
        fields.insert(name.clone(), value.clone());
        config = serde_json::from_value(Value::Object(fields)).map_err(|error| {
            let detail = if numeric {
                "send a whole number that is not negative".to_owned()
            } else {
                expected(&error.to_string())
            };
            invalid(name, detail)
        })?;
    }
    config.validate().map_err(|fault| {
        let name = fault.path.trim_start_matches('/');
        invalid(name, fault.to_string())
    })?;
    Ok(config)
}

/// A tenant as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TenantAnswer {
    /// Its name.
    #[schema(value_type = String)]
    pub tenant: TenantId,
    /// `active` or `suspended`.
    pub status: String,
    /// Its rules.
    #[schema(value_type = Object)]
    pub config: TenantConfig,
    /// Raised by one with every change of the rules.
    pub config_revision: u64,
    /// Raised by every erasure.
    pub erasure_epoch: u64,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Tenant> for TenantAnswer {
    fn from(tenant: Tenant) -> Self {
        Self {
            tenant: tenant.id,
            status: tenant.status.as_str().to_owned(),
            config: tenant.config,
            config_revision: tenant.config_revision,
            erasure_epoch: tenant.erasure_epoch,
            created_at: tenant.created_at,
        }
    }
}

/// `GET /admin/tenants`, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TenantsAnswer {
    /// One page.
    pub tenants: Vec<TenantAnswer>,
    /// Send it as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// `POST /admin/tenants/{tenant}/keys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MintKeyBody {
    /// A note for people.
    #[serde(default)]
    pub label: Option<String>,
    /// At least one scope.
    pub scopes: Vec<String>,
}

impl MintKeyBody {
    /// The checked request.
    pub fn check(&self) -> Result<NewKey, Problem> {
        let mut scopes = Vec::with_capacity(self.scopes.len());
        for (index, word) in self.scopes.iter().enumerate() {
            let scope: Scope = word.parse().map_err(|_| {
                let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
                let detail = format!("there is no such scope; there are {}", known.join(", "));
                Place::Body(&format!("/scopes/{index}")).invalid(detail)
            })?;
            scopes.push(scope);
        }
        if scopes.is_empty() {
            let detail = "a key without scopes can do nothing; name at least one";
            return Err(Place::Body("/scopes").invalid(detail));
        }
        Ok(NewKey {
            label: label(self.label.as_deref())?,
            scopes: scopes.into_iter().collect::<Scopes>(),
        })
    }
}

/// `POST /admin/operators/keys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MintOperatorKeyBody {
    /// Who is written to the audit trail.
    pub actor: String,
    /// A note for people.
    #[serde(default)]
    pub label: Option<String>,
}

impl MintOperatorKeyBody {
    /// The checked actor and label.
    pub fn check(&self) -> Result<(Actor, String), Problem> {
        let place = Place::Body("/actor");
        check_text(&self.actor, 1, Actor::MAX_BYTES)
            .map_err(|fault| text_problem(&fault, place))?;
        let actor = Actor::parse(&self.actor).map_err(|fault| place.invalid(fault.to_string()))?;
        Ok((actor, label(self.label.as_deref())?))
    }
}

fn label(label: Option<&str>) -> Result<String, Problem> {
    let label = label.unwrap_or_default();
    check_text(label, 0, MAX_LABEL_BYTES)
        .map_err(|fault: TextFault| text_problem(&fault, Place::Body("/label")))?;
    Ok(label.to_owned())
}

/// A key without its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyAnswer {
    /// Its public part.
    #[schema(value_type = String)]
    pub key_id: KeyId,
    /// The note for people.
    pub label: String,
    /// What it may do; empty for an operator's key, which is not bound by scopes.
    pub scopes: Vec<String>,
    /// Set for an operator's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// When it was minted.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
}

impl From<KeyRecord> for KeyAnswer {
    fn from(record: KeyRecord) -> Self {
        Self {
            key_id: record.id,
            label: record.label,
            scopes: record
                .scopes
                .iter()
                .map(|scope| scope.to_string())
                .collect(),
            actor: record.actor.map(|actor| actor.to_string()),
            created_at: record.created_at,
            revoked_at: record.revoked_at,
        }
    }
}

/// All keys, oldest first, the revoked ones too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeysAnswer {
    /// The keys.
    pub keys: Vec<KeyAnswer>,
}

/// A new key; the token is shown here and never again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MintedKeyAnswer {
    /// The token to send as `Authorization: Bearer <key>`.
    pub key: String,
    /// The record.
    #[serde(flatten)]
    pub record: KeyAnswer,
}

impl From<MintedKey> for MintedKeyAnswer {
    fn from(minted: MintedKey) -> Self {
        Self {
            key: minted.token.reveal().to_owned(),
            record: minted.record.into(),
        }
    }
}

/// Without the token.
impl std::fmt::Debug for MintedKeyAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MintedKeyAnswer({}, ***)", self.record.key_id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merge(changes: &Value) -> Result<TenantConfig, (Code, Option<String>)> {
        let changes = changes.as_object().expect("an object");
        merge_config(&TenantConfig::default(), changes).map_err(|p| (p.code, p.pointer.clone()))
    }

    #[test]
    fn only_known_values_in_range_are_taken() {
        assert_eq!(merge(&json!({})).unwrap(), TenantConfig::default());
        assert_eq!(merge(&json!({"ttl_days": 7})).unwrap().ttl_days, 7);
        for changes in [
            json!({"ttl_days": 0}),
            json!({"ttl_days": "7"}),
            json!({"ttl_days": null}),
            json!({"ttl_days": -1}),
        ] {
            let expected = (Code::InvalidConfig, Some("/config/ttl_days".to_owned()));
            assert_eq!(merge(&changes), Err(expected), "{changes}");
        }
        let expected = (Code::InvalidConfig, Some("/config/ttl_dyas".to_owned()));
        assert_eq!(merge(&json!({"ttl_dyas": 7})), Err(expected));
    }

    #[test]
    fn a_key_needs_known_scopes() {
        let mint = |scopes: &[&str]| {
            let scopes = scopes.iter().map(|&scope| scope.to_owned()).collect();
            MintKeyBody {
                label: None,
                scopes,
            }
            .check()
        };
        assert!(mint(&["turns:read"]).is_ok());
        assert_eq!(mint(&[]).unwrap_err().pointer.as_deref(), Some("/scopes"));
        let unknown = mint(&["turns:read", "turns:*"]).unwrap_err();
        assert_eq!(unknown.pointer.as_deref(), Some("/scopes/1"));
    }
}
