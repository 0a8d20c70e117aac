//! What the play is played on: a Postgres, two servers, and what stands between them.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::process::Signal;
use tempfile::TempDir;
use throughline_scratch_postgres::{PgBouncer, Server, Settings};
use throughline_tests::{Client, FaultProxy, Service, operator_key, throughline};

use crate::disk::SmallDisk;
use crate::fault::Fault;

/// Servers.
pub(crate) const REPLICAS: usize = 2;

/// Everything that runs. Servers come first, so that they end before their database does.
pub(crate) struct Stage {
    services: [Mutex<Option<Service>>; REPLICAS],
    ports: [u16; REPLICAS],
    /// What the servers run with, beside the address of their database.
    environment: Vec<(&'static str, String)>,
    spools: [TempDir; REPLICAS],
    /// Between callers and servers.
    pub(crate) fronts: Vec<FaultProxy>,
    pooler: Option<PgBouncer>,
    /// Between servers and Postgres.
    pub(crate) line: Option<FaultProxy>,
    pub(crate) postgres: Arc<Server>,
    database: Mutex<String>,
    operator: Mutex<String>,
    pub(crate) disk: Option<SmallDisk>,
}

impl Stage {
    /// Sets the stage that a fault needs. The error says why this machine cannot.
    pub(crate) async fn set(fault: Fault) -> Result<Self, String> {
        let disk = match fault {
            Fault::DiskFullSpool => Some(SmallDisk::mount(16)?),
            Fault::DiskFullPostgres => Some(SmallDisk::mount(320)?),
            _ => None,
        };
        let postgres = start_postgres(fault, disk.as_ref())?;
        let line = if fault.breaks_the_line() {
            Some(proxy(postgres.port()).await?)
        } else {
            None
        };
        let spool = |_| match (&disk, fault) {
            (Some(disk), Fault::DiskFullSpool) => tempfile::tempdir_in(disk.path()),
            _ => tempfile::tempdir(),
        };
        let [first, second] = [0, 1].map(spool);
        let spools = [first.map_err(text)?, second.map_err(text)?];
        let pooler = match fault {
            Fault::Pooler => Some(PgBouncer::start(&postgres.url("postgres"), 8).map_err(text)?),
            _ => None,
        };
        let mut stage = Self {
            services: [Mutex::new(None), Mutex::new(None)],
            ports: [free_port(), free_port()],
            environment: environment(fault),
            spools,
            fronts: Vec::new(),
            pooler,
            line,
            postgres: Arc::new(postgres),
            database: Mutex::new("postgres".to_owned()),
            operator: Mutex::new(String::new()),
            disk,
        };
        if fault == Fault::CallersLine {
            for port in stage.ports {
                stage.fronts.push(proxy(port).await?);
            }
        }
        let url = stage.postgres.url("postgres");
        throughline(&["migrate"], &[("CCM_DATABASE_URL", &url)]).succeeded();
        for replica in 0..REPLICAS {
            stage.start_service(replica, &[]);
        }
        stage.ready().await;
        stage.mint_operator();
        Ok(stage)
    }

    /// The database that everything happens in.
    pub(crate) fn database(&self) -> String {
        self.database.lock().clone()
    }

    /// Another, empty one from now on; the servers must be down.
    pub(crate) fn use_database(&self, name: &str) -> Result<(), String> {
        self.postgres.create_database(name, None).map_err(text)?;
        name.clone_into(&mut self.database.lock());
        Ok(())
    }

    /// An operator's key of the present database.
    pub(crate) fn mint_operator(&self) {
        *self.operator.lock() = operator_key(&self.postgres.url(&self.database()));
    }

    /// Speaks to one server.
    pub(crate) fn client(&self, replica: usize, key: &str) -> Client {
        let url = match self.fronts.get(replica) {
            Some(front) => front.url(),
            None => format!("http://127.0.0.1:{}", self.ports[replica]),
        };
        Client::new(url, key)
    }

    /// The same for the operator.
    pub(crate) fn operator(&self, replica: usize) -> Client {
        self.client(replica, &self.operator.lock())
    }

    /// Starts a server where it was before.
    pub(crate) fn start_service(&self, replica: usize, arguments: &[&str]) {
        let url = self.url();
        let spool = self.spools[replica].path().to_string_lossy().into_owned();
        let mut environment = vec![
            ("CCM_DATABASE_URL", url.as_str()),
            ("CCM_SPOOL_DIR", spool.as_str()),
        ];
        environment.extend(
            self.environment
                .iter()
                .map(|(name, value)| (*name, value.as_str())),
        );
        let service = Service::start_at(self.ports[replica], arguments, &environment);
        *self.services[replica].lock() = Some(service);
    }

    /// The address that the servers have of the database.
    fn url(&self) -> String {
        let database = self.database();
        if let Some(pooler) = &self.pooler {
            return pooler.url(&database);
        }
        let url = self.postgres.url(&database);
        match &self.line {
            Some(line) => {
                let (port, through) = (self.postgres.port(), line.address().port());
                url.replace(&format!(":{port}/"), &format!(":{through}/"))
            }
            None => url,
        }
    }

    /// Waits until all servers are.
    #[expect(
        clippy::await_holding_lock,
        reason = "nobody else touches a server while it starts"
    )]
    pub(crate) async fn ready(&self) {
        for service in &self.services {
            if let Some(service) = service.lock().as_mut() {
                service.ready().await;
            }
        }
    }

    /// Kills a server where it stands.
    pub(crate) fn kill_service(&self, replica: usize) -> String {
        // Dropping kills with SIGKILL and waits.
        let service = self.services[replica].lock().take();
        service.map_or_else(String::new, |service| service.log())
    }

    /// Asks a server to end and waits for it; the error is what its end was instead of a good one.
    pub(crate) async fn terminate_service(&self, replica: usize) -> Result<(), String> {
        let Some(mut service) = self.services[replica].lock().take() else {
            return Ok(());
        };
        service.signal(Signal::TERM);
        let status = service.ended(std::time::Duration::from_secs(40)).await;
        if status.success() {
            return Ok(());
        }
        Err(format!(
            "a server that was asked to end ended with {status}: {}",
            service.log()
        ))
    }

    /// What the servers that run have written.
    pub(crate) fn logs(&self) -> String {
        let log = |service: &Mutex<Option<Service>>| service.lock().as_ref().map(Service::log);
        self.services.iter().filter_map(log).collect()
    }
}

fn start_postgres(fault: Fault, disk: Option<&SmallDisk>) -> Result<Server, String> {
    let mut settings = Settings::durable().with("log_min_messages", "panic");
    if let (Fault::DiskFullPostgres, Some(disk)) = (fault, disk) {
        settings = settings
            .below(disk.path())
            .with("max_wal_size", "64MB")
            .with("min_wal_size", "32MB");
    }
    Server::start(settings).map_err(text)
}

fn environment(fault: Fault) -> Vec<(&'static str, String)> {
    // Sealing is not what is tested: any key will do, made of parts so that nobody takes it for one.
    let mut environment = vec![
        ("CCM_SPOOL_KEY", "0f".repeat(32)),
        ("CCM_LOG_FILTER", "warn".to_owned()),
        ("CCM_GC_ENABLED", "off".to_owned()),
        ("CCM_REPLICAS", REPLICAS.to_string()),
    ];
    match fault {
        Fault::Pooler => environment.push(("CCM_STATEMENT_MODE", "unnamed".to_owned())),
        Fault::PoolExhausted => environment.push(("CCM_POOL_SIZE", "2".to_owned())),
        _ => {}
    }
    environment
}

async fn proxy(port: u16) -> Result<FaultProxy, String> {
    let server = SocketAddr::from(([127, 0, 0, 1], port));
    FaultProxy::before(server).await.map_err(text)
}

fn text(error: impl std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn free_port() -> u16 {
    let probe = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = probe.local_addr().expect("a bound socket has an address");
    address.port()
}
