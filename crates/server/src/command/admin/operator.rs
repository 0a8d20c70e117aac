//! `admin operator …`.

use throughline_tenancy::Tenancy;
use throughline_wire::{KeyAnswer, KeysAnswer, MintOperatorKeyBody, MintedKeyAnswer};

use super::key::key_id;
use super::{refused, shown};
use crate::failure::Failure;

#[derive(clap::Subcommand)]
pub(super) enum Action {
    /// Make an operator's key; the token is printed once, on standard output
    Mint {
        /// Who is written to the audit trail
        #[arg(long, value_name = "NAME")]
        actor: String,
        /// A note for people
        #[arg(long)]
        label: Option<String>,
    },
    /// List all operators' keys, the revoked ones too; never a token
    List,
    /// Revoke a key
    Revoke {
        /// The key's id
        key: String,
    },
}

pub(super) async fn run(store: &dyn Tenancy, action: Action, json: bool) -> Result<(), Failure> {
    match action {
        Action::Mint { actor, label } => {
            let body = MintOperatorKeyBody { actor, label };
            let (actor, label) = body
                .check()
                .map_err(|problem| Failure::usage("invalid_key", problem.detail.clone()))?;
            let minted = store
                .mint_operator_key(&actor, &label)
                .await
                .map_err(refused)?;
            if json {
                return shown::answer(true, &MintedKeyAnswer::from(minted), String::new);
            }
            shown::minted(&minted)
        }
        Action::List => {
            let keys = store.operator_keys().await.map_err(refused)?;
            let answer = KeysAnswer {
                keys: keys.iter().cloned().map(KeyAnswer::from).collect(),
            };
            shown::answer(json, &answer, || {
                shown::list(
                    &keys,
                    shown::key,
                    "there is no operator yet; admin operator mint makes one",
                )
            })
        }
        Action::Revoke { key } => {
            let key = store
                .revoke_operator_key(key_id(&key)?)
                .await
                .map_err(refused)?;
            shown::answer(json, &KeyAnswer::from(key.clone()), || shown::key(&key))
        }
    }
}
