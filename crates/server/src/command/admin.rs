//! `throughline admin`: tenants and keys, straight in the database. It works when the service does not
//! run, and it is how the first operator's key comes to be.

mod key;
mod operator;
mod shown;
mod tenant;

use throughline_tenancy::TenancyError;

use crate::failure::{Failure, chain};
use crate::settings::{DatabaseFlags, Environment, Loaded};
use crate::store;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) flags: DatabaseFlags,
    /// Print JSON, in the shapes of the HTTP surface
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    subject: Subject,
}

#[derive(clap::Subcommand)]
enum Subject {
    /// Create, look at, suspend and configure tenants
    #[command(subcommand)]
    Tenant(tenant::Action),
    /// Mint, list and revoke a tenant's keys
    #[command(subcommand)]
    Key(key::Action),
    /// Mint, list and revoke operators' keys
    #[command(subcommand)]
    Operator(operator::Action),
}

/// Does one thing and prints what came of it. A schema that does not fit is refused first.
pub(crate) async fn run(
    Args {
        flags,
        json,
        subject,
    }: Args,
    environment: &Environment,
) -> Result<(), Failure> {
    let loaded = Loaded::load(&flags.0, environment)?;
    let config = store::config(&loaded.settings)?;
    let store = store::connect(config, &prometheus::Registry::new())?;
    store::check(&store).await?;
    let done = match subject {
        Subject::Tenant(action) => tenant::run(&*store, action, &loaded.settings, json).await,
        Subject::Key(action) => key::run(&*store, action, json).await,
        Subject::Operator(action) => operator::run(&*store, action, json).await,
    };
    store.close().await;
    done
}

/// The code that HTTP gives to the same refusal.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands in map_err, which hands the error over"
)]
fn refused(error: TenancyError) -> Failure {
    let code = match &error {
        TenancyError::TenantExists(_) => "tenant_exists",
        TenancyError::UnknownTenant(_) => "unknown_tenant",
        TenancyError::UnknownKey(_) => "unknown_key",
        TenancyError::InvalidConfig(_) => "invalid_config",
        TenancyError::StaleRevision { .. } => "stale_revision",
        TenancyError::Unavailable(_) => "database_unavailable",
    };
    Failure::failed(code, chain(&error))
}
