//! `admin tenant …`.

use serde_json::{Map, Value};
use throughline_domain::TenantId;
use throughline_tenancy::{Tenancy, Tenant, TenantConfig, TenantStatus};
use throughline_wire::{TenantAnswer, TenantsAnswer, merge_config};

use super::{refused, shown};
use crate::failure::Failure;
use crate::service::new_tenant_config;
use crate::settings::Settings;

/// Tenants read in one step.
const PAGE: u32 = 500;

#[derive(clap::Subcommand)]
pub(super) enum Action {
    /// Make a tenant
    Create {
        /// 1 to 64 of a-z, 0-9, '.', '_' and '-', other than '.' and '..'
        tenant: String,
        #[command(flatten)]
        rules: Rules,
    },
    /// List all tenants
    List,
    /// Show one tenant
    Show {
        /// Its name
        tenant: String,
    },
    /// Refuse every call with the tenant's keys; nothing is deleted
    Suspend {
        /// Its name
        tenant: String,
    },
    /// Serve the tenant again
    Resume {
        /// Its name
        tenant: String,
    },
    /// Change the tenant's rules
    Configure {
        /// Its name
        tenant: String,
        #[command(flatten)]
        rules: Rules,
        /// Change nothing unless this is the revision in force
        #[arg(long, value_name = "NUMBER")]
        revision: Option<u64>,
    },
}

#[derive(clap::Args)]
pub(super) struct Rules {
    /// A rule and its value, such as `ttl_days=30`; may be given more than once
    #[arg(long = "set", value_name = "RULE=VALUE")]
    set: Vec<String>,
}

impl Rules {
    /// The given rules over `base`.
    fn over(&self, base: &TenantConfig) -> Result<TenantConfig, Failure> {
        let mut changes = Map::new();
        for rule in &self.set {
            let Some((name, value)) = rule.split_once('=') else {
                let text = format!("--set {rule:?}: give RULE=VALUE, such as ttl_days=30");
                return Err(Failure::usage("invalid_config", text));
            };
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            changes.insert(name.to_owned(), value);
        }
        merge_config(base, &changes).map_err(|problem| {
            let place = problem.pointer.as_deref().unwrap_or("/config");
            Failure::usage("invalid_config", format!("{place}: {}", problem.detail))
        })
    }
}

pub(super) async fn run(
    store: &dyn Tenancy,
    action: Action,
    settings: &Settings,
    json: bool,
) -> Result<(), Failure> {
    let one = match action {
        Action::List => return list(store, json).await,
        Action::Create { tenant, rules } => {
            let config = rules.over(&new_tenant_config(settings))?;
            store
                .create_tenant(&name(&tenant)?, config)
                .await
                .map_err(refused)?
        }
        Action::Show { tenant } => find(store, &name(&tenant)?).await?,
        Action::Suspend { tenant } => set_status(store, &tenant, TenantStatus::Suspended).await?,
        Action::Resume { tenant } => set_status(store, &tenant, TenantStatus::Active).await?,
        Action::Configure {
            tenant,
            rules,
            revision,
        } => configure(store, &name(&tenant)?, &rules, revision).await?,
    };
    shown::answer(json, &TenantAnswer::from(one.clone()), || {
        shown::tenant(&one)
    })
}

/// A tenant's name as it was typed.
pub(super) fn name(text: &str) -> Result<TenantId, Failure> {
    TenantId::parse(text).map_err(|error| Failure::usage("invalid_tenant", error.to_string()))
}

async fn find(store: &dyn Tenancy, tenant: &TenantId) -> Result<Tenant, Failure> {
    let found = store.tenant(tenant).await.map_err(refused)?;
    found.ok_or_else(|| Failure::failed("unknown_tenant", format!("there is no tenant {tenant}")))
}

async fn set_status(
    store: &dyn Tenancy,
    tenant: &str,
    status: TenantStatus,
) -> Result<Tenant, Failure> {
    store
        .set_status(&name(tenant)?, status)
        .await
        .map_err(refused)
}

/// Without a revision given, the one that was read is the one that must still be in force: two people
/// who change different rules at once do not undo each other.
async fn configure(
    store: &dyn Tenancy,
    tenant: &TenantId,
    rules: &Rules,
    revision: Option<u64>,
) -> Result<Tenant, Failure> {
    if rules.set.is_empty() {
        return Err(Failure::usage(
            "nothing_to_set",
            "give at least one --set RULE=VALUE",
        ));
    }
    let current = find(store, tenant).await?;
    let config = rules.over(&current.config)?;
    let expected = revision.unwrap_or(current.config_revision);
    store
        .configure(tenant, config, Some(expected))
        .await
        .map_err(refused)
}

async fn list(store: &dyn Tenancy, json: bool) -> Result<(), Failure> {
    let mut tenants: Vec<Tenant> = Vec::new();
    loop {
        let after = tenants.last().map(|tenant| tenant.id.clone());
        let page = store.tenants(after.as_ref(), PAGE).await.map_err(refused)?;
        let last = page.len() < PAGE as usize;
        tenants.extend(page);
        if last {
            break;
        }
    }
    let answer = TenantsAnswer {
        tenants: tenants.iter().cloned().map(TenantAnswer::from).collect(),
        next_cursor: None,
    };
    shown::answer(json, &answer, || {
        shown::list(
            &tenants,
            shown::tenant,
            "there is no tenant yet; admin tenant create makes one",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(set: &[&str]) -> Result<TenantConfig, String> {
        let set = set.iter().map(|rule| (*rule).to_owned()).collect();
        let rules = Rules { set };
        rules
            .over(&TenantConfig::default())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn rules_are_set_over_what_is_in_force() {
        assert_eq!(over(&[]).unwrap(), TenantConfig::default());
        assert_eq!(over(&["ttl_days=7"]).unwrap().ttl_days, 7);
    }

    #[test]
    fn a_rule_that_does_not_exist_or_fit_is_named() {
        for (rule, part) in [
            ("ttl_days", "give RULE=VALUE"),
            ("ttl_days=0", "/config/ttl_days"),
            ("ttl_days=soon", "/config/ttl_days"),
            ("tll_days=7", "/config/tll_days"),
        ] {
            let refusal = over(&[rule]).unwrap_err();
            assert!(refusal.starts_with("invalid_config: "), "{refusal}");
            assert!(refusal.contains(part), "{refusal}");
        }
    }
}
