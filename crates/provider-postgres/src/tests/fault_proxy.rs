//! A line to the database that can be cut when the server says that a commit is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

/// Passes bytes on. Once armed, the next answer to a commit is swallowed and its line is cut.
pub(super) struct FaultProxy {
    pub(super) url: String,
    armed: Arc<AtomicBool>,
}

impl FaultProxy {
    /// In front of the server of that URL.
    pub(super) async fn before(url: &str) -> Self {
        let (credentials, rest) = url.rsplit_once('@').unwrap();
        let (server, path) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(AtomicBool::new(false));
        TaskTracker::new().spawn(serve(listener, server.to_owned(), armed.clone()));
        Self {
            url: format!("{credentials}@127.0.0.1:{port}/{path}"),
            armed,
        }
    }

    /// Lies in wait for the next commit.
    pub(super) fn cut_at_the_next_commit(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }
}

async fn serve(listener: TcpListener, server: String, armed: Arc<AtomicBool>) {
    let lines = TaskTracker::new();
    while let Ok((client, _)) = listener.accept().await {
        if let Ok(server) = TcpStream::connect(&server).await {
            lines.spawn(line(client, server, armed.clone()));
        }
    }
}

async fn line(client: TcpStream, server: TcpStream, armed: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = tokio::io::copy(&mut from_client, &mut to_server);
    let down = async {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from_server.read(&mut bytes).await {
            let answer = &bytes[..count];
            let committed = answer.windows(7).any(|word| word == b"COMMIT\0");
            if committed && armed.swap(false, Ordering::SeqCst) {
                break;
            }
            if to_client.write_all(answer).await.is_err() {
                break;
            }
        }
    };
    // Whichever ends first ends the line; both halves are dropped.
    tokio::select! {
        _ = up => {}
        () = down => {}
    }
}
