//! `admin key …`.

use throughline_domain::KeyId;
use throughline_tenancy::{Scope, Tenancy};
use throughline_wire::{KeyAnswer, KeysAnswer, MintKeyBody, MintedKeyAnswer};

use super::tenant::name;
use super::{refused, shown};
use crate::failure::Failure;

#[derive(clap::Subcommand)]
pub(super) enum Action {
    /// Make a key; the token is printed once, on standard output
    Mint {
        /// The tenant's name
        tenant: String,
        /// What the key may do: turns:write, turns:read, identity:resolve, identity:merge; may be
        /// given more than once
        #[arg(
            long = "scope",
            value_name = "SCOPE",
            required_unless_present = "all_scopes"
        )]
        scopes: Vec<String>,
        /// The key may do everything that a tenant's key can
        #[arg(long, conflicts_with = "scopes")]
        all_scopes: bool,
        /// A note for people
        #[arg(long)]
        label: Option<String>,
    },
    /// List the tenant's keys, the revoked ones too; never a token
    List {
        /// The tenant's name
        tenant: String,
    },
    /// Revoke a key
    Revoke {
        /// The tenant's name
        tenant: String,
        /// The key's id
        key: String,
    },
}

pub(super) async fn run(store: &dyn Tenancy, action: Action, json: bool) -> Result<(), Failure> {
    match action {
        Action::Mint {
            tenant,
            scopes,
            all_scopes,
            label,
        } => {
            let all = || Scope::ALL.iter().map(ToString::to_string).collect();
            let scopes = if all_scopes { all() } else { scopes };
            let key = MintKeyBody { label, scopes };
            let key = key
                .check()
                .map_err(|problem| Failure::usage("invalid_key", problem.detail.clone()))?;
            let minted = store
                .mint_key(&name(&tenant)?, key)
                .await
                .map_err(refused)?;
            if json {
                return shown::answer(true, &MintedKeyAnswer::from(minted), String::new);
            }
            shown::minted(&minted)
        }
        Action::List { tenant } => {
            let keys = store.keys(&name(&tenant)?).await.map_err(refused)?;
            let answer = KeysAnswer {
                keys: keys.iter().cloned().map(KeyAnswer::from).collect(),
            };
            shown::answer(json, &answer, || {
                shown::list(
                    &keys,
                    shown::key,
                    "the tenant has no key; admin key mint makes one",
                )
            })
        }
        Action::Revoke { tenant, key } => {
            let tenant = name(&tenant)?;
            let key = store
                .revoke_key(&tenant, key_id(&key)?)
                .await
                .map_err(refused)?;
            shown::answer(json, &KeyAnswer::from(key.clone()), || shown::key(&key))
        }
    }
}

/// A key's id as it was typed.
pub(super) fn key_id(text: &str) -> Result<KeyId, Failure> {
    text.parse().map_err(|_| {
        let text = "give the key's id as the list shows it, not the token";
        Failure::usage("invalid_key", text)
    })
}
