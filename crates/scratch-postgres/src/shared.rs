//! One server for all the processes of a test run.

use std::env;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Error;
use crate::cluster::Cluster;
use crate::connection_url::ConnectionUrl;
use crate::database::Database;
use crate::installation::{client, program};
use crate::psql::{self, Admin};
use crate::run_dir::{RunDir, fingerprint};
use crate::scratch_dir::{Reaper, write_private};
use crate::settings::Settings;
use crate::template::{Missing, Ready, Template};

/// How long a server without any client waits for the next test process, in seconds.
const GRACE_SECONDS: u32 = 5;
/// The file with the server's address; it is there once the server runs.
const SERVER: &str = "server";

/// A client of the run's server. Clones and further calls in any process of the run reach the
/// same server. A few seconds after the last client is gone, however it went, the server ends.
#[derive(Clone)]
pub struct Shared {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) admin: Admin,
    /// Dropped last of all clones: the share of the clients' lock.
    pub(crate) run: Arc<RunDir>,
    /// Only where the run cannot be shared.
    _own: Option<crate::Server>,
}

impl Shared {
    /// Joins the run's server with fast settings, starting it if this is the first process; with
    /// `CCM_TEST_DATABASE_URL` set it is the server of that URL, which must allow to create
    /// databases. Blocks for about a second in the first process and for milliseconds later.
    pub fn attach() -> Result<Self, Error> {
        Self::attach_named("", Settings::default())
    }

    /// Joins the run's server of this name. The settings are those of the first process to come,
    /// so one name must always go with the same settings.
    pub fn attach_named(name: &str, settings: Settings) -> Result<Self, Error> {
        let external = env::var("CCM_TEST_DATABASE_URL")
            .ok()
            .filter(|url| !url.is_empty());
        if external.is_none() && program("flock", &[]).is_none() {
            return Self::unshared(settings);
        }
        let key = format!("{name} {}", external.as_deref().unwrap_or_default());
        let run = RunDir::enter(&key)?;
        let admin = match external {
            Some(url) => use_external(&run, &url),
            None => join_or_start(&run, settings),
        };
        match admin {
            Ok(admin) => Ok(Self::new(admin, run, None)),
            Err(error) => {
                run.abandon();
                Err(error)
            }
        }
    }

    /// Without the program `flock` (macOS) the reaper could not see whether clients are left:
    /// every call then starts its own server, which is slower and just as clean.
    fn unshared(settings: Settings) -> Result<Self, Error> {
        let server = crate::Server::start(settings)?;
        let run = RunDir::inside(server.socket_dir())?;
        Ok(Self::new(server.admin().clone(), run, Some(server)))
    }

    fn new(admin: Admin, run: RunDir, own: Option<crate::Server>) -> Self {
        Self {
            inner: Arc::new(Inner {
                admin,
                run: Arc::new(run),
                _own: own,
            }),
        }
    }

    /// A connection URL, with the password, for the superuser.
    pub fn url(&self, database: &str) -> String {
        self.inner.admin.url.with_database(database).text()
    }

    /// Runs statements, each in its own transaction, and returns the rows as `psql -At` prints
    /// them.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, Error> {
        self.inner.admin.run(database, sql)
    }

    /// An empty database, dropped with its guard.
    pub fn empty_database(&self) -> Result<Database, Error> {
        Database::create(self.inner.clone(), self.fresh_name(), None)
    }

    /// A database of its own for one test, copied from a template. `prepare` gets the URL of an
    /// empty database and fills it, once per run and key; name everything that decides about the
    /// content in the key. All its connections are ended when it returns.
    pub fn database_from_template<E>(
        &self,
        key: &str,
        prepare: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<Database, Error>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let template = match self.template(key)? {
            Template::Ready(ready) => ready,
            Template::Missing(missing) => {
                prepare(missing.url()).map_err(|error| Error::Prepare(error.into()))?;
                missing.publish()?
            }
        };
        template.database()
    }

    /// The same with an asynchronous `prepare`. Everything else blocks the calling thread for
    /// milliseconds, or for as long as another process prepares the template. That is harmless in
    /// a test with its own runtime; two tasks of one single-threaded runtime would wait for each
    /// other, so let one call it, or call [`Shared::template`] in `spawn_blocking`.
    pub async fn database_from_template_async<E>(
        &self,
        key: &str,
        prepare: impl AsyncFnOnce(&str) -> Result<(), E>,
    ) -> Result<Database, Error>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let template = match self.template(key)? {
            Template::Ready(ready) => ready,
            Template::Missing(missing) => {
                prepare(missing.url())
                    .await
                    .map_err(|error| Error::Prepare(error.into()))?;
                missing.publish()?
            }
        };
        template.database()
    }

    /// The template of this key, or the right and duty to prepare it: while the answer
    /// [`Template::Missing`] is held, everybody else who asks for this key waits.
    pub fn template(&self, key: &str) -> Result<Template, Error> {
        let name = format!("{}template_{}", prefix(&self.inner.run), fingerprint(key));
        let marker = self.inner.run.file(&format!("{name}.ready"));
        let ready = Ready::new(self.clone(), name.clone());
        if marker.exists() {
            return Ok(Template::Ready(ready));
        }
        let lock = self.inner.run.lock(&name)?;
        if marker.exists() {
            return Ok(Template::Ready(ready));
        }
        Missing::begin(ready, marker, lock).map(Template::Missing)
    }

    /// Unique in the run: of this process and of no earlier call.
    pub(crate) fn fresh_name(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("{}{}_{number}", prefix(&self.inner.run), std::process::id())
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }
}

/// With what the names of all this run's databases begin.
fn prefix(run: &RunDir) -> String {
    format!("scratch_{}_", run.id)
}

fn join_or_start(run: &RunDir, settings: Settings) -> Result<Admin, Error> {
    let _starting = run.lock("start")?;
    let note = run.file(SERVER);
    if let Some(url) = read_note(&note)
        && TcpStream::connect((url.host(), url.port())).is_ok()
    {
        let installed = crate::Installation::find()?;
        return Ok(Admin {
            psql: installed.tool("psql")?,
            url,
            major: installed.major(),
        });
    }
    // The first one here, or the server crashed, and with it all that the markers promise.
    remove_notes(run.path())?;
    let mut cluster = Cluster::create(settings, Some((run.path(), GRACE_SECONDS)))?;
    let process = cluster.launch()?;
    let admin = cluster.admin()?;
    write_note(&note, &admin.url.text())?;
    cluster.directory.hand_over()?;
    // Nobody waits for this process: it outlives us, and the reaper ends it.
    drop(process);
    Ok(admin)
}

fn use_external(run: &RunDir, url: &str) -> Result<Admin, Error> {
    let _starting = run.lock("start")?;
    let (psql, url) = (client("psql")?, ConnectionUrl::parse(url)?);
    let number = psql::run(&psql, &url, "show server_version_num;")?;
    let major = number.parse::<u32>().map_err(|_| Error::BadUrl)? / 10_000;
    let admin = Admin { psql, url, major };
    let note = run.file(SERVER);
    if read_note(&note).is_none() {
        clean_up_after(run, &admin)?;
        write_note(&note, &admin.url.text())?;
    }
    Ok(admin)
}

/// The server stays when the run is over, its databases do not.
fn clean_up_after(run: &RunDir, admin: &Admin) -> Result<(), Error> {
    if program("flock", &[]).is_none() {
        return Ok(());
    }
    let psql = admin.psql.to_string_lossy();
    let environment = [
        ("SCRATCH_PSQL", &*psql),
        ("SCRATCH_DROP_URL", &admin.url.text_without_password()),
        ("SCRATCH_DROP_PREFIX", &prefix(run)),
        ("PGPASSWORD", admin.url.password()),
    ];
    Reaper::start(None, Some((run.path(), GRACE_SECONDS)), &environment)?.hand_over()
}

fn read_note(path: &Path) -> Option<ConnectionUrl> {
    ConnectionUrl::parse(fs::read_to_string(path).ok()?.trim()).ok()
}

/// Whole or not at all: the writer may be killed in between.
fn write_note(path: &Path, text: &str) -> Result<(), Error> {
    let draft = path.with_extension("draft");
    write_private(&draft, text)?;
    fs::rename(&draft, path).map_err(Error::io("rename", &draft))
}

fn remove_notes(run: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(run).map_err(Error::io("read", run))?.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "lock") {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}
