//! The service under test: a process of its own, so that its time and its memory can be told from
//! those of the load.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fault::BenchError;
use crate::http::Connection;
use crate::plan::Plan;

const READY_WITHIN: Duration = Duration::from_secs(30);

/// A running service; one that was started here is ended when dropped.
pub(crate) struct Service {
    child: Option<Child>,
    /// `host:port`.
    pub(crate) address: String,
}

impl Service {
    /// Starts `serve` on that database with these settings besides, or takes the one that the plan names.
    pub(crate) async fn start(
        plan: &Plan,
        database_url: &str,
        settings: &[(&str, &str)],
    ) -> Result<Self, BenchError> {
        if let Some(url) = &plan.service_url {
            let address = url
                .trim_start_matches("http://")
                .trim_end_matches('/')
                .to_owned();
            return Ok(Self {
                child: None,
                address,
            });
        }
        let address = free_address()?;
        let mut command = Command::new(&plan.binary);
        for (name, _) in std::env::vars_os() {
            let ours = name.to_string_lossy();
            if ours.starts_with("CCM_") || ours.starts_with("PI_") {
                command.env_remove(name);
            }
        }
        command
            .args(["serve", "--listen", &address])
            .env("CCM_DATABASE_URL", database_url)
            .env("CCM_LOG_FILTER", "warn")
            // A sweep is asked for and waited for.
            .env("CCM_REQUEST_TIMEOUT", "10m")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut service = Self {
            child: Some(command.spawn()?),
            address,
        };
        service.ready().await?;
        Ok(service)
    }

    async fn ready(&mut self) -> Result<(), BenchError> {
        let deadline = Instant::now() + READY_WITHIN;
        let request = b"GET /readyz HTTP/1.1\r\nhost: bench\r\n\r\n";
        while Instant::now() < deadline {
            if let Ok(mut connection) = Connection::open(&self.address).await
                && let Ok(answer) = connection.exchange(request).await
                && answer.status == 200
            {
                return Ok(());
            }
            if let Some(child) = &mut self.child
                && child.try_wait()?.is_some()
            {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err(BenchError::stage("the service did not become ready"))
    }

    /// Its process, if it was started here.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself; the measurement is over either way.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn free_address() -> Result<String, BenchError> {
    let probe = TcpListener::bind("127.0.0.1:0")?;
    Ok(probe.local_addr()?.to_string())
}
