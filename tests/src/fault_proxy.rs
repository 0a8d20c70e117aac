//! A line between a client and a server that breaks in the ways lines break, switched while it runs.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// What the line does to what goes over it. Connections that are open follow a switch at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Pass,
    /// Every connection is reset, new ones as soon as they are accepted.
    Reset,
    /// Every connection ends, and new ones are told 503 in the place of the server's answer.
    Unavailable,
    /// Nothing moves until the next switch; then it goes on where it stopped.
    Stall,
    /// What the client sends is taken and goes nowhere, and no answer comes. A connection that lost
    /// something stays like that.
    HalfOpen,
    /// Requests pass. So many bytes of answers do, and the rest is lost in silence.
    LoseReplies {
        /// The bytes that still pass, counted for each connection from the switch on.
        after: usize,
    },
    /// As `LoseReplies`, and the connection ends there.
    CutReplies {
        /// The bytes that still pass.
        after: usize,
    },
    /// Everything passes, in pieces of so many bytes, each of them later.
    Slow {
        /// The largest piece.
        piece: usize,
        /// How much later.
        delay: Duration,
    },
}

/// A proxy on a port of its own; it ends, with every connection, when it is dropped.
pub struct FaultProxy {
    address: SocketAddr,
    fault: watch::Sender<Fault>,
    accepted: Arc<AtomicUsize>,
}

impl FaultProxy {
    /// In front of that server, passing everything.
    pub async fn before(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (fault, seen) = watch::channel(Fault::Pass);
        let accepted = Arc::new(AtomicUsize::new(0));
        TaskTracker::new().spawn(accept(listener, server, seen, accepted.clone()));
        Ok(Self {
            address,
            fault,
            accepted,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as the address of an HTTP service.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Switches.
    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// How many connections were accepted so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

type Seen = watch::Receiver<Fault>;

async fn accept(
    listener: TcpListener,
    server: SocketAddr,
    mut fault: Seen,
    accepted: Arc<AtomicUsize>,
) {
    let lines = TaskTracker::new();
    loop {
        let client = tokio::select! {
            client = listener.accept() => client,
            switched = fault.changed() => match switched {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        if let Ok((client, _)) = client {
            accepted.fetch_add(1, Ordering::SeqCst);
            lines.spawn(line(client, server, fault.clone()));
        }
    }
}

async fn line(mut client: TcpStream, server: SocketAddr, fault: Seen) {
    if *fault.borrow() == Fault::Unavailable {
        turn_away(client).await;
        return;
    }
    let server = async {
        if *fault.borrow() == Fault::Reset {
            return None;
        }
        TcpStream::connect(server).await.ok()
    };
    let Some(mut server) = server.await else {
        reset(&client);
        return;
    };
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    // Whichever ends first ends the line; both connections are closed.
    tokio::select! {
        () = pump(from_client, to_server, Way::Request, fault.clone()) => {}
        () = pump(from_server, to_client, Way::Answer, fault.clone()) => {}
    }
    if *fault.borrow() == Fault::Reset {
        reset(&client);
        reset(&server);
    }
}

/// What a proxy says whose server is away.
const UNAVAILABLE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Answers the first request and reads what comes until the client ends the connection.
async fn turn_away(mut client: TcpStream) {
    let mut bytes = [0; 4 * 1024];
    let mut answered = false;
    while let Ok(1..) = client.read(&mut bytes).await {
        if !answered && client.write_all(UNAVAILABLE).await.is_err() {
            return;
        }
        answered = true;
    }
}

/// The next close of the connection is an RST.
fn reset(connection: &TcpStream) {
    // It may be gone already, which is as good.
    let _ = connection.set_zero_linger();
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Request,
    Answer,
}

/// What becomes of bytes that were read.
enum Then {
    Pass(usize),
    PassAndEnd(usize),
}

async fn pump(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, way: Way, mut fault: Seen) {
    let mut bytes = vec![0; 16 * 1024];
    let mut passed = 0;
    let mut lost = false;
    loop {
        let now = *fault.borrow_and_update();
        if matches!(now, Fault::Reset | Fault::Unavailable) {
            return;
        }
        let room = match now {
            Fault::Slow { piece, .. } => piece.clamp(1, bytes.len()),
            _ => bytes.len(),
        };
        let read = tokio::select! {
            switched = fault.changed() => {
                if switched.is_err() {
                    return;
                }
                passed = 0;
                continue;
            }
            read = from.read(&mut bytes[..room]), if now != Fault::Stall => read,
        };
        let Ok(count @ 1..) = read else { return };
        if let Fault::Slow { delay, .. } = now {
            tokio::time::sleep(delay).await;
        }
        let then = decide(now, way, count, passed, &mut lost);
        let (passing, end) = match then {
            Then::Pass(passing) => (passing, false),
            Then::PassAndEnd(passing) => (passing, true),
        };
        if to.write_all(&bytes[..passing]).await.is_err() || end {
            return;
        }
        passed += count;
    }
}

fn decide(now: Fault, way: Way, count: usize, passed: usize, lost: &mut bool) -> Then {
    let left = |after: usize| after.saturating_sub(passed).min(count);
    match (now, way) {
        // What was lost leaves a hole: what comes later means nothing any more.
        _ if *lost => Then::Pass(0),
        (Fault::HalfOpen, _) => {
            *lost = true;
            Then::Pass(0)
        }
        (Fault::LoseReplies { after }, Way::Answer) => {
            *lost = left(after) < count;
            Then::Pass(left(after))
        }
        (Fault::CutReplies { after }, Way::Answer) if left(after) < count => {
            Then::PassAndEnd(left(after))
        }
        (
            Fault::Reset
            | Fault::Unavailable
            | Fault::Pass
            | Fault::Stall
            | Fault::Slow { .. }
            | Fault::LoseReplies { .. }
            | Fault::CutReplies { .. },
            _,
        ) => Then::Pass(count),
    }
}

#[cfg(test)]
mod tests;
