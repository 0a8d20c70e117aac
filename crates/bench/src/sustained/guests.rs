//! Guests who behave badly: they hold connections, drip their requests, invent channel kinds and send
//! as much as a body may hold.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::append;
use crate::fault::BenchError;
use crate::http::Connection;
use crate::samples::Samples;
use crate::stage::{Person, Stage};

/// How many come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guests {
    /// Connections that are opened and left alone.
    pub idle: usize,
    /// Connections that send one byte of a request a second.
    pub dripping: usize,
    /// Appends, each with a channel kind that nobody has heard of.
    pub kinds: usize,
    /// Whether a body of nearly 4 MiB comes every second.
    pub bodies: bool,
}

/// Guests on the stage.
pub(super) struct Arrived {
    address: String,
    series: usize,
    newcomers: JoinHandle<Samples>,
    bodies: Option<JoinHandle<Vec<u16>>>,
}

/// What was noticed of them.
#[derive(Debug)]
pub(crate) struct Noticed {
    /// Somebody who comes without a connection, asks once and leaves, every quarter of a second.
    pub(crate) newcomers: Samples,
    /// How many series the metrics have more than before.
    pub(crate) more_series: usize,
    /// The answers to large bodies.
    pub(crate) bodies: Vec<u16>,
}

impl Guests {
    pub(super) async fn arrive(
        self,
        stage: &Stage,
        label: &str,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<Arrived, BenchError> {
        let address = stage.service.address.clone();
        // One append first, so that every series is there that an append makes.
        let first = append(
            &stage.people[0],
            &format!("{label}first"),
            "slack-user",
            "hello",
        );
        Connection::open(&address)
            .await?
            .exchange(first.as_bytes())
            .await?;
        let series = series(&address).await?;
        tasks.spawn(idle(address.clone(), self.idle, stop.clone()));
        for _ in 0..self.dripping {
            tasks.spawn(drip(address.clone(), stop.clone()));
        }
        let person = stage.people[1].clone();
        let kinds = invented(
            address.clone(),
            person,
            label.to_owned(),
            self.kinds,
            stop.clone(),
        );
        tasks.spawn(kinds);
        let person = stage.people[2].clone();
        let large = large(address.clone(), person, label.to_owned(), stop.clone());
        let bodies = self.bodies.then(|| tasks.spawn(large));
        let person = stage.people[3].clone();
        let newcomers = tasks.spawn(newcomers(address.clone(), person, stop.clone()));
        Ok(Arrived {
            address,
            series,
            newcomers,
            bodies,
        })
    }
}

impl Arrived {
    /// Waits until they are gone.
    pub(super) async fn leave(self) -> Result<Noticed, BenchError> {
        let newcomers = self.newcomers.await.map_err(BenchError::stage)?;
        let bodies = match self.bodies {
            Some(bodies) => bodies.await.map_err(BenchError::stage)?,
            None => Vec::new(),
        };
        let series = series(&self.address).await?;
        Ok(Noticed {
            newcomers,
            more_series: series.saturating_sub(self.series),
            bodies,
        })
    }
}

/// Series that count appends by channel kind.
async fn series(address: &str) -> Result<usize, BenchError> {
    let request = b"GET /metrics HTTP/1.1\r\nhost: bench\r\n\r\n";
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(request).await?;
    let lines = answer
        .body
        .lines()
        .filter(|line| line.starts_with("ccm_appends_total{"));
    let names: BTreeSet<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    Ok(names.len())
}

async fn idle(address: String, count: usize, stop: CancellationToken) {
    let mut held = Vec::with_capacity(count);
    while held.len() < count && !stop.is_cancelled() {
        let opening = tokio::time::timeout(Duration::from_secs(1), TcpStream::connect(&address));
        match opening.await {
            Ok(Ok(connection)) => held.push(connection),
            // No more are taken for now.
            Ok(Err(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    stop.cancelled().await;
}

async fn drip(address: String, stop: CancellationToken) {
    let request =
        b"POST /v1/tenants/acme/turns HTTP/1.1\r\nhost: bench\r\ncontent-length: 4000000\r\n";
    while !stop.is_cancelled() {
        let Ok(mut connection) = TcpStream::connect(&address).await else {
            tokio::time::sleep(Duration::from_secs(1)).await;
            continue;
        };
        for byte in request {
            let sent = connection.write_all(&[*byte]).await;
            if sent.is_err() || stop.is_cancelled() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

async fn invented(
    address: String,
    person: Person,
    label: String,
    count: usize,
    stop: CancellationToken,
) {
    let Ok(mut connection) = Connection::open(&address).await else {
        return;
    };
    for number in 0..count {
        let key = format!("{label}kind-{number}");
        let request = append(&person, &key, &format!("invented-{number}"), "hello");
        if stop.is_cancelled() || connection.exchange(request.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A batch of as many long turns as a body holds.
async fn large(
    address: String,
    person: Person,
    label: String,
    stop: CancellationToken,
) -> Vec<u16> {
    let mut answers = Vec::new();
    let words = "so it goes ".repeat(20_000);
    for number in 0.. {
        if stop.is_cancelled() {
            break;
        }
        let turns: Vec<String> = (0..18)
            .map(|place| {
                let request = append(
                    &person,
                    &format!("{label}body-{number}-{place}"),
                    "slack-user",
                    &words,
                );
                request
                    .split_once("\r\n\r\n")
                    .map_or(String::new(), |(_, body)| body.to_owned())
            })
            .collect();
        let body = format!("{{\"turns\":[{}]}}", turns.join(","));
        let request = format!(
            "POST /v1/tenants/{}/turns/batch HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            person.tenant,
            person.token,
            body.len()
        );
        if let Ok(mut connection) = Connection::open(&address).await
            && let Ok(answer) = connection.exchange(request.as_bytes()).await
        {
            answers.push(answer.status);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    answers
}

async fn newcomers(address: String, person: Person, stop: CancellationToken) -> Samples {
    let begun = Instant::now();
    let request = format!(
        "GET /v1/tenants/{}/users/{}/turns?limit=20 HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\n\r\n",
        person.tenant, person.user, person.token
    );
    let mut micros = Vec::new();
    while !stop.is_cancelled() {
        let sent = Instant::now();
        let asked = async {
            let mut connection = Connection::open(&address).await?;
            connection.exchange(request.as_bytes()).await.map(|_| ())
        };
        // Who is not served by then is counted with the time they waited.
        let _ = tokio::time::timeout(Duration::from_secs(35), asked).await;
        micros.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Samples::new(micros, begun.elapsed())
}
