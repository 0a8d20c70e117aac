//! The accept loop over real sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::{Limits, StopSignals, Stopped, serve};

const LIMITS: Limits = Limits {
    connections: 8,
    header_timeout: Duration::from_mins(5),
    send_timeout: Duration::from_mins(5),
    drain_delay: Duration::ZERO,
    deadline: Duration::from_mins(5),
};

/// A server with one slow route: it says when a request has begun, and answers when it is let go.
struct Subject {
    address: std::net::SocketAddr,
    begun: mpsc::UnboundedReceiver<()>,
    let_go: Arc<Semaphore>,
    signals: mpsc::UnboundedSender<()>,
    not_ready: Arc<AtomicBool>,
    stopped: JoinHandle<Stopped>,
}

impl StopSignals for mpsc::UnboundedReceiver<()> {
    async fn next(&mut self) {
        if self.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

type Slow = (mpsc::UnboundedSender<()>, Arc<Semaphore>);

async fn slow(State((begun, let_go)): State<Slow>) -> &'static str {
    begun.send(()).unwrap();
    let _permit = let_go.acquire().await.unwrap();
    "done"
}

#[expect(clippy::disallowed_methods, reason = "the test awaits the handle")]
async fn start(limits: Limits) -> Subject {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (begun_sender, begun) = mpsc::unbounded_channel();
    let (signals, received) = mpsc::unbounded_channel();
    let let_go = Arc::new(Semaphore::new(0));
    let not_ready = Arc::new(AtomicBool::new(false));
    let router = Router::new()
        .route("/slow", get(slow))
        .route("/", get(|| async { "hello" }))
        .route(
            "/refused",
            post(|| async { (StatusCode::UNAUTHORIZED, "no") }),
        )
        .with_state((begun_sender, Arc::clone(&let_go)));
    let told = Arc::clone(&not_ready);
    let stopped = tokio::spawn(async move {
        serve(listener, router, limits, received, || {
            told.store(true, Ordering::SeqCst);
        })
        .await
    });
    Subject {
        address,
        begun,
        let_go,
        signals,
        not_ready,
        stopped,
    }
}

async fn ask(subject: &Subject, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(subject.address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Everything until the server closes; a reset ends it too.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).unwrap()
}

async fn head_and(stream: &mut TcpStream, end: &str) {
    let mut text = Vec::new();
    while !text.ends_with(end.as_bytes()) {
        text.push(stream.read_u8().await.unwrap());
    }
}

#[tokio::test]
async fn a_request_that_runs_is_answered_after_the_signal_and_no_other_is_begun() {
    let mut subject = start(LIMITS).await;
    let mut running = ask(&subject, "/slow").await;
    subject.begun.recv().await.unwrap();
    subject.signals.send(()).unwrap();
    // The listener is closed before the running request is let go: a new connection is refused.
    while TcpStream::connect(subject.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(subject.not_ready.load(Ordering::SeqCst));
    subject.let_go.add_permits(1);
    let answer = rest(&mut running).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(answer.ends_with("done"), "{answer}");
    assert_eq!(subject.stopped.await.unwrap(), Stopped::Clean);
}

#[tokio::test]
async fn connections_that_ask_nothing_do_not_hold_the_stop_up() {
    let subject = start(LIMITS).await;
    let mut idle = ask(&subject, "/").await;
    head_and(&mut idle, "hello").await;
    let mut half = TcpStream::connect(subject.address).await.unwrap();
    half.write_all(b"GET / HT").await.unwrap();
    let mut silent = TcpStream::connect(subject.address).await.unwrap();
    subject.signals.send(()).unwrap();
    assert_eq!(subject.stopped.await.unwrap(), Stopped::Clean);
    for stream in [&mut idle, &mut half, &mut silent] {
        assert_eq!(rest(stream).await, "");
    }
}

#[tokio::test]
async fn what_still_runs_at_the_deadline_is_cut_and_counted() {
    let limits = Limits {
        deadline: Duration::from_millis(50),
        ..LIMITS
    };
    let mut subject = start(limits).await;
    let mut first = ask(&subject, "/slow").await;
    let _second = ask(&subject, "/slow").await;
    subject.begun.recv().await.unwrap();
    subject.begun.recv().await.unwrap();
    subject.signals.send(()).unwrap();
    assert_eq!(
        subject.stopped.await.unwrap(),
        Stopped::DeadlinePassed { cut: 2 }
    );
    assert_eq!(rest(&mut first).await, "");
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    for drain_delay in [Duration::ZERO, Duration::from_mins(5)] {
        let mut subject = start(Limits {
            drain_delay,
            ..LIMITS
        })
        .await;
        let _running = ask(&subject, "/slow").await;
        subject.begun.recv().await.unwrap();
        subject.signals.send(()).unwrap();
        subject.signals.send(()).unwrap();
        assert_eq!(subject.stopped.await.unwrap(), Stopped::Hurried { cut: 1 });
    }
}

#[tokio::test]
async fn during_the_drain_delay_new_connections_are_still_answered() {
    let limits = Limits {
        drain_delay: Duration::from_mins(5),
        ..LIMITS
    };
    let subject = start(limits).await;
    subject.signals.send(()).unwrap();
    while !subject.not_ready.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    let mut late = ask(&subject, "/").await;
    head_and(&mut late, "hello").await;
    subject.signals.send(()).unwrap();
    subject.stopped.await.unwrap();
}

// Slow loris
#[tokio::test]
async fn a_head_that_never_ends_closes_the_connection() {
    let limits = Limits {
        header_timeout: Duration::from_millis(50),
        ..LIMITS
    };
    let subject = start(limits).await;
    let mut slow = TcpStream::connect(subject.address).await.unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();
    let mut silent = TcpStream::connect(subject.address).await.unwrap();
    rest(&mut slow).await;
    rest(&mut silent).await;
}

#[tokio::test]
async fn connections_over_the_limit_wait_for_their_turn() {
    let limits = Limits {
        connections: 1,
        ..LIMITS
    };
    let mut subject = start(limits).await;
    let mut first = ask(&subject, "/slow").await;
    subject.begun.recv().await.unwrap();
    let mut second = ask(&subject, "/").await;
    subject.let_go.add_permits(1);
    head_and(&mut first, "done").await;
    drop(first);
    head_and(&mut second, "hello").await;
}

// Found by holding a load beside ten thousand idle connections: newcomers waited half a minute.
#[tokio::test]
async fn who_only_holds_a_connection_gives_way_to_who_asks_and_a_request_that_runs_never_does() {
    let limits = Limits {
        connections: 2,
        ..LIMITS
    };
    let mut subject = start(limits).await;
    let mut running = ask(&subject, "/slow").await;
    subject.begun.recv().await.unwrap();
    let mut holders = Vec::new();
    for _ in 0..3 {
        let mut half = TcpStream::connect(subject.address).await.unwrap();
        half.write_all(b"GET / HT").await.unwrap();
        holders.push(half);
    }
    for _ in 0..3 {
        let mut newcomer = ask(&subject, "/").await;
        head_and(&mut newcomer, "hello").await;
        holders.push(newcomer);
    }
    assert_eq!(rest(&mut holders[0]).await, "");
    subject.let_go.add_permits(1);
    head_and(&mut running, "done").await;
}

// Most clients write everything before they read.
#[tokio::test]
async fn a_client_that_sends_its_whole_body_first_still_reads_the_refusal() {
    let subject = start(LIMITS).await;
    let body = vec![b'x'; 8 * 1024 * 1024];
    let head = format!(
        "POST /refused HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(subject.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.ends_with("no"), "{answer}");
}
