//! `throughline demo`: a commute of one person, told over real HTTP against a service in memory.

mod page;
mod story;
mod teller;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use secrecy::SecretString;
use throughline_domain::{Clock as _, Ids as _, KeyId, SystemClock, SystemIds, TenantId};
use throughline_provider_in_memory::InMemoryStore;
use throughline_tenancy::{Principal, Scopes, Tenancy as _, Token};
use tokio::net::TcpListener;

use self::page::Page;
use self::teller::Teller;
use crate::api_client::ApiClient;
use crate::failure::{Failure, chain};
use crate::output::say;
use crate::server::{self, Signals};
use crate::service::{AlwaysReady, assemble, in_memory, limits, new_tenant_config};
use crate::settings::{Environment, Flags, Loaded};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// End after the story instead of staying up
    #[arg(long)]
    exit: bool,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT",
          default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), hide_default_value = true)]
    listen: SocketAddr,
}

/// Starts the service, tells the story, stays up until a signal.
pub(crate) async fn run(args: &Args) -> Result<(), Failure> {
    // The demo is the same everywhere: no file and no variable changes it.
    let loaded = Loaded::load(&Flags::default(), &Environment::default())?;
    let settings = &loaded.settings;
    let tenant = TenantId::parse("demo").expect("the name is a plain word");
    let store = in_memory();
    let config = new_tenant_config(settings);
    store
        .create_tenant(&tenant, config)
        .await
        .map_err(|error| Failure::failed("demo_tenant", chain(&error)))?;
    let key = seed_key(&store, &tenant);
    let registry = prometheus::Registry::new();
    let service = assemble(&store, Arc::new(AlwaysReady), settings, &registry).await?;
    let unusable = |error: std::io::Error| {
        let text = format!(
            "{} cannot be listened on: {error}; choose another --listen",
            args.listen
        );
        Failure::failed("address_unusable", text)
    };
    let listener = TcpListener::bind(args.listen).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;

    let signals = Signals::listen()?;
    let draining = service.draining;
    let serving = server::serve(listener, service.router, limits(settings), signals, || {
        draining.start();
    });
    let client = ApiClient::new(
        &format!("http://{address}"),
        &SecretString::from(key.as_str()),
    )?;
    let telling = async {
        let teller = Teller::new(client, &tenant, Page::new());
        let mina = teller.tell(address).await?;
        teller.curl_lines(address, &key, mina)?;
        if args.exit {
            return Ok(());
        }
        say("\nIt stays up until Ctrl-C.")?;
        std::future::pending().await
    };
    tokio::select! {
        told = telling => told,
        _ = serving => say("\nStopped; nothing was kept."),
    }
}

/// A short key, so that the curl lines stay within a terminal's width.
fn seed_key(store: &InMemoryStore, tenant: &TenantId) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("demo-");
    for byte in &SystemIds.secret()[..8] {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
    }
    let principal = Principal::Tenant {
        tenant: tenant.clone(),
        key: KeyId::new(SystemIds.ulid(SystemClock.now())),
        scopes: Scopes::all(),
        suspended: false,
    };
    store.seed_key(&Token::from_header(&text), principal);
    text
}
