//! The accept loop and the way down: not ready, stop accepting, finish, cut.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::places::Places;
use super::{StopSignals, connection};

/// For an idle connection to close.
const MOMENT: Duration = Duration::from_millis(100);

/// How many, how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Connections at once. Who comes when all places are taken gets that of the connection that has been
    /// without a request for the longest time; while all are busy they wait.
    pub(crate) connections: usize,
    /// For a request's head, and for an idle connection.
    pub(crate) header_timeout: Duration,
    /// For a client to take the next part of its answer.
    pub(crate) send_timeout: Duration,
    /// Between "not ready" and the end of accepting.
    pub(crate) drain_delay: Duration,
    /// Between the end of accepting and the cut.
    pub(crate) deadline: Duration,
}

/// How the way down went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Every request was answered.
    Clean,
    /// The deadline passed with this many connections still busy.
    DeadlinePassed {
        /// Connections cut.
        cut: usize,
    },
    /// A second signal came with this many connections still busy.
    Hurried {
        /// Connections cut.
        cut: usize,
    },
}

/// Accepts and serves until a signal comes, then calls `not_ready` and goes down within the limits. A
/// second signal ends it at once.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    mut signals: impl StopSignals,
    not_ready: impl FnOnce(),
) -> Stopped {
    let mut doors = Doors {
        listener,
        router,
        limits,
        permits: Arc::new(Semaphore::new(limits.connections)),
        places: Places::default(),
        waiting: None,
        connections: JoinSet::new(),
        stop: CancellationToken::new(),
    };
    tokio::select! {
        () = doors.accept() => {}
        () = signals.next() => {}
    }
    not_ready();
    tokio::select! {
        () = doors.accept() => {}
        () = sleep(limits.drain_delay) => {}
        () = signals.next() => return doors.cut().await,
    }
    doors.close(signals).await
}

struct Doors {
    listener: TcpListener,
    router: Router,
    limits: Limits,
    permits: Arc<Semaphore>,
    places: Places,
    /// Accepted, and without a place yet.
    waiting: Option<TcpStream>,
    connections: JoinSet<()>,
    stop: CancellationToken,
}

impl Doors {
    /// Accepts until it is dropped. Who was accepted and has no place yet is kept when it is.
    async fn accept(&mut self) {
        loop {
            if self.waiting.is_some() {
                tokio::select! {
                    permit = place(&self.permits, &self.places) => self.begin(permit),
                    Some(_) = self.connections.join_next() => {}
                }
            } else {
                tokio::select! {
                    stream = next(&self.listener) => self.waiting = Some(stream),
                    // Takes finished connections out of the set, so that it does not grow.
                    Some(_) = self.connections.join_next() => {}
                }
            }
        }
    }

    fn begin(&mut self, permit: OwnedSemaphorePermit) {
        let Some(stream) = self.waiting.take() else {
            return;
        };
        let (router, stop) = (self.router.clone(), self.stop.clone());
        let (limits, place) = (self.limits, self.places.take());
        self.connections.spawn(async move {
            connection::serve(stream, router, limits, stop, place).await;
            drop(permit);
        });
    }

    /// Stops accepting and lets what runs finish, until the deadline or a further signal.
    async fn close(self, mut signals: impl StopSignals) -> Stopped {
        let deadline = self.limits.deadline;
        let mut connections = self.shut();
        let hurried = tokio::select! {
            done = timeout(deadline, all_done(&mut connections)) => match done {
                Ok(()) => return Stopped::Clean,
                Err(_) => false,
            },
            () = signals.next() => true,
        };
        match (abort(&mut connections).await, hurried) {
            (0, _) => Stopped::Clean,
            (cut, true) => Stopped::Hurried { cut },
            (cut, false) => Stopped::DeadlinePassed { cut },
        }
    }

    /// Stops accepting and cuts what runs; those that only wait are given the moment they need to leave,
    /// so that they are not counted.
    async fn cut(self) -> Stopped {
        let mut connections = self.shut();
        let _ = timeout(MOMENT, all_done(&mut connections)).await;
        match abort(&mut connections).await {
            0 => Stopped::Clean,
            cut => Stopped::Hurried { cut },
        }
    }

    /// Closes the listener and tells every connection.
    fn shut(self) -> JoinSet<()> {
        self.stop.cancel();
        self.connections
    }
}

async fn all_done(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}

/// The next connection. Errors are the machine's (too many open files) or a client's that left while
/// waiting: neither may end the loop.
async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A share of the limit, if need be that of somebody who only holds a connection.
async fn place(permits: &Arc<Semaphore>, places: &Places) -> OwnedSemaphorePermit {
    if let Ok(permit) = Arc::clone(permits).try_acquire_owned() {
        return permit;
    }
    let asked = async {
        while !places.free_one() {
            places.came().await;
        }
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        permit = Arc::clone(permits).acquire_owned() => permit.expect("the semaphore is never closed"),
        never = asked => match never {},
    }
}

/// Ends what still runs and waits until it is gone; how many there were.
async fn abort(connections: &mut JoinSet<()>) -> usize {
    while connections.try_join_next().is_some() {}
    let cut = connections.len();
    connections.shutdown().await;
    cut
}
