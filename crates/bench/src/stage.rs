//! The stage: a database, the people on it, a service before it, and the tables of the other side.

mod baseline;
mod ended;
mod filling;

use std::sync::Arc;

use throughline_domain::{SystemClock, SystemIds, TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity as _, PlatformKind};
use throughline_provider_postgres::{PostgresConfig, PostgresStore, migrate};
use throughline_scratch_postgres::{Server, Settings};
use throughline_tenancy::{NewKey, Scopes, Tenancy as _, TenantConfig};

use crate::fault::BenchError;
use crate::pgbench::Programs;
use crate::plan::Plan;
use crate::service::Service;

pub(crate) use baseline::Script;
pub(crate) use ended::{Sweeping, Swept};
pub(crate) use filling::filled_user;

/// Tenants on the stage.
pub(crate) const TENANTS: usize = 64;
/// Users of each.
const USERS: usize = 4;

/// One user with their tenant's key.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
    pub(crate) token: String,
}

/// Everything a scenario works on.
pub(crate) struct Stage {
    pub(crate) service: Service,
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) programs: Programs,
    /// The first 64 are of different tenants, and so on.
    pub(crate) people: Vec<Person>,
    url: String,
    /// Last, so that it outlives what is connected to it.
    server: Option<Server>,
}

impl Stage {
    /// Sets it. A server that is started here keeps every safety: each commit waits for the disk.
    pub(crate) async fn set(plan: &Plan, limited: bool) -> Result<Self, BenchError> {
        let server = match &plan.database_url {
            Some(_) => None,
            None => Some(Server::start(tuned())?),
        };
        let url = match (&plan.database_url, &server) {
            (Some(url), _) => url.clone(),
            (None, Some(server)) => server.url("postgres"),
            (None, None) => return Err(BenchError::stage("there is no database")),
        };
        let config = PostgresConfig::new(url.clone().into());
        migrate(&config).await?;
        let registry = prometheus::Registry::new();
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(SystemIds));
        let store = PostgresStore::connect(config, clock, ids, &registry)?;
        let programs = Programs::at(&url)?;
        let service = Service::start(plan, &url, &[limit(limited)]).await?;
        let people = people(&store).await?;
        programs.psql(baseline::TABLES).await?;
        Ok(Self {
            service,
            store,
            programs,
            people,
            url,
            server,
        })
    }

    /// Another service on the same database, one that reads a page for each question. Of a service that
    /// the plan names it is the same one.
    pub(crate) async fn forgetful(&self, plan: &Plan) -> Result<Service, BenchError> {
        let settings = [limit(false), ("CCM_READ_CACHE", "1KiB")];
        Service::start(plan, &self.url, &settings).await
    }

    /// What the load is told of the database: settings that decide about durability and speed.
    pub(crate) async fn described(&self) -> Result<String, BenchError> {
        let sql = "select string_agg(name || ' ' || setting, ', ' order by name) from pg_settings \
                   where name in ('fsync', 'synchronous_commit', 'full_page_writes', \
                   'server_version', 'shared_buffers', 'wal_level');";
        self.programs.psql(sql).await
    }

    /// Writes everything down, so that no side pays for what the other one wrote.
    pub(crate) async fn settle(&self) -> Result<(), BenchError> {
        self.programs.psql("checkpoint;").await.map(|_| ())
    }

    /// The database's process, if it was started here.
    pub(crate) fn database_pid(&self) -> Option<u32> {
        self.server.as_ref().and_then(Server::pid)
    }

    /// Takes the other side's tables away and closes the store.
    pub(crate) async fn strike(self) -> Result<(), BenchError> {
        self.store.close().await;
        let gone = "drop schema throughline_bench cascade;";
        self.programs.psql(gone).await.map(|_| ())
    }
}

fn limit(limited: bool) -> (&'static str, &'static str) {
    ("CCM_RATE_LIMIT", if limited { "2000" } else { "off" })
}

/// Room for a million turns, as an operator would give it; nothing that a crash could tell.
fn tuned() -> Settings {
    Settings::durable()
        .with("shared_buffers", "512MB")
        .with("max_wal_size", "4GB")
        .with("checkpoint_timeout", "15min")
}

async fn people(store: &PostgresStore) -> Result<Vec<Person>, BenchError> {
    let run = std::process::id();
    let mut people: Vec<Person> = Vec::new();
    for number in 0..TENANTS * USERS {
        let (place, tenant) = (
            number / TENANTS,
            format!("bench-{run}-{}", number % TENANTS),
        );
        let tenant = TenantId::parse(&tenant).map_err(BenchError::stage)?;
        let token = match people.get(number % TENANTS) {
            Some(person) => person.token.clone(),
            None => newcomer(store, &tenant).await?,
        };
        let who = ChannelUser::new(PlatformKind::Custom, &format!("person {place}"))
            .map_err(BenchError::stage)?;
        let user = store
            .resolve(&tenant, &who)
            .await
            .map_err(BenchError::stage)?
            .user_id;
        people.push(Person {
            tenant,
            user,
            token,
        });
    }
    Ok(people)
}

/// The new tenant's token. With the default caps a fast run would push its own first turns out.
async fn newcomer(store: &PostgresStore, tenant: &TenantId) -> Result<String, BenchError> {
    let rules = TenantConfig {
        turn_cap: 10_000_000,
        byte_cap: 1_000_000_000_000,
        ..TenantConfig::default()
    };
    let made = store.create_tenant(tenant, rules).await;
    made.map_err(BenchError::stage)?;
    let key = NewKey {
        label: "bench".to_owned(),
        scopes: Scopes::all(),
    };
    let minted = store
        .mint_key(tenant, key)
        .await
        .map_err(BenchError::stage)?;
    Ok(minted.token.reveal().to_owned())
}
