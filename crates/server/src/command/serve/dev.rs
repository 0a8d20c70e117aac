//! Serving from memory, for trying it out: one tenant, one key, nothing kept.

use std::net::SocketAddr;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use throughline_domain::{Actor, Clock as _, Ids as _, KeyId, SystemClock, SystemIds, TenantId};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{NewKey, Principal, Scopes, Tenancy as _, Token};

use super::{bind, until_stopped};
use crate::failure::{Failure, chain};
use crate::output::say;
use crate::server::Signals;
use crate::service::{AlwaysReady, assemble, in_memory, new_tenant_config};
use crate::settings::Settings;

const TENANT: &str = "dev";
const KEY_CHARS: usize = 16;

pub(super) async fn serve(settings: &Settings, signals: Signals) -> Result<(), Failure> {
    // R-024
    if settings.replicas.0 > 1 {
        return Err(Failure::usage(
            "one_process_only",
            "the in-memory store lives in one process; set replicas to 1, or use a database",
        ));
    }
    distinct(
        settings.dev_key.as_ref(),
        settings.dev_operator_key.as_ref(),
    )?;
    let store = in_memory();
    let key = furnish(&store, settings).await?;
    let registry = prometheus::Registry::new();
    let service = assemble(&store, Arc::new(AlwaysReady), settings, &registry).await?;
    let (listener, address) = bind(settings).await?;
    tracing::info!(%address, "listening");
    say(welcome(address, key.as_deref()))?;
    until_stopped(listener, service, settings, signals).await
}

/// Makes the tenant and its keys. The token, if it was made here and has to be shown.
async fn furnish(store: &InMemoryStore, settings: &Settings) -> Result<Option<String>, Failure> {
    let refused = |error| Failure::failed("dev_tenant", chain(&error));
    let tenant = TenantId::parse(TENANT).expect("the name is a plain word");
    let config = new_tenant_config(settings);
    store
        .create_tenant(&tenant, config)
        .await
        .map_err(refused)?;
    if let Some(key) = &settings.dev_operator_key {
        let principal = Principal::Operator {
            actor: Actor::parse("dev-operator").expect("the name is a plain word"),
            key: key_id(),
        };
        store.seed_key(&token("dev_operator_key", key)?, principal);
    }
    if let Some(key) = &settings.dev_key {
        let principal = Principal::Tenant {
            tenant,
            key: key_id(),
            scopes: Scopes::all(),
            suspended: false,
        };
        store.seed_key(&token("dev_key", key)?, principal);
        return Ok(None);
    }
    let key = NewKey {
        label: "made by serve --dev".to_owned(),
        scopes: Scopes::all(),
    };
    let minted = store.mint_key(&tenant, key).await.map_err(refused)?;
    Ok(Some(minted.token.reveal().to_owned()))
}

/// One token cannot be a tenant's and an operator's: whichever came last would win.
fn distinct(tenant: Option<&SecretString>, operator: Option<&SecretString>) -> Result<(), Failure> {
    let same = tenant
        .zip(operator)
        .is_some_and(|(tenant, operator)| tenant.expose_secret() == operator.expose_secret());
    if same {
        let text = "dev_key and dev_operator_key are the same; give each a value of its own";
        return Err(Failure::usage("invalid_setting", text));
    }
    Ok(())
}

fn key_id() -> KeyId {
    KeyId::new(SystemIds.ulid(SystemClock.now()))
}

fn token(name: &str, key: &SecretString) -> Result<Token, Failure> {
    let text = key.expose_secret();
    let usable = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.len() < KEY_CHARS || !usable {
        let text = format!("{name} needs at least {KEY_CHARS} characters without spaces");
        return Err(Failure::usage("invalid_setting", text));
    }
    Ok(Token::from_header(text))
}

/// What to do next. A key that was given is not repeated: the shell fills it in.
fn welcome(address: SocketAddr, key: Option<&str>) -> String {
    let shown = key.map_or_else(String::new, |key| format!("key     {key}\n"));
    let bearer = key.unwrap_or("$CCM_DEV_KEY");
    let body = r#"{"client_message_id": "hello-1", "ref": {"kind": "custom", "id": "me"},
         "channel_kind": "custom", "channel_scope": "terminal",
         "turn": {"user_message": "hello", "assistant_answer": "good morning"}}"#;
    format!(
        "throughline serves from memory on http://{address}; nothing is kept when it stops
tenant  {TENANT}
{shown}try it  curl -s http://{address}/v1/tenants/{TENANT}/turns \\
    -H \"Authorization: Bearer {bearer}\" -H 'Content-Type: application/json' \\
    -d '{body}'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_key_is_not_printed_and_a_new_one_is_printed_with_a_curl_line() {
        let address = "127.0.0.1:8080".parse().unwrap();
        let given = welcome(address, None);
        assert!(given.contains("Bearer $CCM_DEV_KEY"), "{given}");
        assert!(!given.contains("key  "), "{given}");
        let minted = welcome(address, Some("tlk_x"));
        assert!(minted.contains("key     tlk_x\n"), "{minted}");
        assert!(minted.contains("Bearer tlk_x"), "{minted}");
        assert!(minted.contains("nothing is kept"), "{minted}");
    }

    #[test]
    fn a_key_is_long_enough_and_fits_into_a_header() {
        let usable = |text: &str| token("dev_key", &SecretString::from(text)).is_ok();
        assert!(usable(&"k".repeat(16)));
        for bad in [
            "k".repeat(15),
            format!("{} ", "k".repeat(16)),
            "é".repeat(16),
        ] {
            assert!(!usable(&bad), "{bad}");
        }
    }
}
