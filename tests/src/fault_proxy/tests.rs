//! Each fault, told by a server that says everything back.

use std::time::Instant;

use tokio::time::timeout;

use super::*;

const LONG: Duration = Duration::from_secs(20);
/// Long enough for bytes on loopback; only what must *not* come is waited for as long as this.
const SHORT: Duration = Duration::from_millis(150);

/// Says everything back, and counts what it heard.
async fn echo() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(AtomicUsize::new(0));
    let count = heard.clone();
    TaskTracker::new().spawn(async move {
        let lines = TaskTracker::new();
        while let Ok((mut line, _)) = listener.accept().await {
            let heard = count.clone();
            lines.spawn(async move {
                let mut bytes = [0; 1024];
                while let Ok(read @ 1..) = line.read(&mut bytes).await {
                    heard.fetch_add(read, Ordering::SeqCst);
                    if line.write_all(&bytes[..read]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, heard)
}

struct Line {
    proxy: FaultProxy,
    client: TcpStream,
    heard: Arc<AtomicUsize>,
}

/// A connection over which `hello` went there and back.
async fn line() -> Line {
    let (server, heard) = echo().await;
    let proxy = FaultProxy::before(server).await.unwrap();
    let client = TcpStream::connect(proxy.address()).await.unwrap();
    let mut line = Line {
        proxy,
        client,
        heard,
    };
    line.say("hello").await;
    assert_eq!(line.hear(5).await, "hello");
    line
}

impl Line {
    async fn say(&mut self, words: &str) {
        self.client.write_all(words.as_bytes()).await.unwrap();
    }

    async fn hear(&mut self, bytes: usize) -> String {
        let mut heard = vec![0; bytes];
        let read = timeout(LONG, self.client.read_exact(&mut heard)).await;
        read.expect("in time").expect("whole");
        String::from_utf8(heard).unwrap()
    }

    /// Nothing comes, and the connection is open.
    async fn silent(&mut self) {
        let mut bytes = [0; 1];
        let read = timeout(SHORT, self.client.read(&mut bytes)).await;
        assert!(read.is_err(), "{read:?}");
    }

    /// Nothing comes any more; `true` for a reset.
    async fn ended(&mut self) -> bool {
        let mut bytes = [0; 1];
        match timeout(LONG, self.client.read(&mut bytes))
            .await
            .expect("an end")
        {
            Ok(count) => {
                assert_eq!(count, 0);
                false
            }
            Err(_) => true,
        }
    }

    async fn server_heard(&self, bytes: usize) {
        let heard = async {
            while self.heard.load(Ordering::SeqCst) < bytes {
                tokio::task::yield_now().await;
            }
        };
        timeout(LONG, heard).await.expect("the server hears it");
    }
}

#[tokio::test]
async fn a_reset_ends_open_and_new_connections_and_passing_brings_new_ones() {
    let mut line = line().await;
    line.proxy.set(Fault::Reset);
    assert!(line.ended().await);
    line.client = TcpStream::connect(line.proxy.address()).await.unwrap();
    assert!(line.ended().await);
    line.proxy.set(Fault::Pass);
    line.client = TcpStream::connect(line.proxy.address()).await.unwrap();
    line.say("again").await;
    assert_eq!(line.hear(5).await, "again");
    assert_eq!(line.proxy.accepted(), 3);
}

#[tokio::test]
async fn a_server_that_is_away_is_told_by_its_status() {
    let mut line = line().await;
    line.proxy.set(Fault::Unavailable);
    line.ended().await;
    line.client = TcpStream::connect(line.proxy.address()).await.unwrap();
    line.say("GET").await;
    assert_eq!(line.hear(12).await, "HTTP/1.1 503");
    assert_eq!(line.heard.load(Ordering::SeqCst), 5);
    line.proxy.set(Fault::Pass);
    line.client = TcpStream::connect(line.proxy.address()).await.unwrap();
    line.say("again").await;
    assert_eq!(line.hear(5).await, "again");
}

#[tokio::test]
async fn what_is_stalled_goes_on_where_it_stopped() {
    let mut line = line().await;
    line.proxy.set(Fault::Stall);
    line.say("later").await;
    line.silent().await;
    assert_eq!(line.heard.load(Ordering::SeqCst), 5);
    line.proxy.set(Fault::Pass);
    assert_eq!(line.hear(5).await, "later");
}

#[tokio::test]
async fn a_half_open_connection_takes_everything_and_gives_nothing_even_later() {
    let mut line = line().await;
    line.proxy.set(Fault::HalfOpen);
    line.say("hole").await;
    line.silent().await;
    line.proxy.set(Fault::Pass);
    line.say("more").await;
    line.silent().await;
    assert_eq!(line.heard.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn a_lost_reply_was_a_request_that_arrived() {
    let mut line = line().await;
    line.proxy.set(Fault::LoseReplies { after: 0 });
    line.say("there").await;
    line.server_heard(10).await;
    line.silent().await;
}

#[tokio::test]
async fn a_reply_is_lost_after_as_many_bytes_as_were_said() {
    let mut line = line().await;
    line.proxy.set(Fault::LoseReplies { after: 3 });
    line.say("there").await;
    assert_eq!(line.hear(3).await, "the");
    line.silent().await;

    let mut line = self::line().await;
    line.proxy.set(Fault::CutReplies { after: 3 });
    line.say("there").await;
    assert_eq!(line.hear(3).await, "the");
    line.ended().await;
    line.server_heard(10).await;
}

#[tokio::test]
async fn a_slow_line_loses_nothing_and_takes_its_time() {
    let mut line = line().await;
    let delay = Duration::from_millis(20);
    line.proxy.set(Fault::Slow { piece: 1, delay });
    let start = Instant::now();
    line.say("slow").await;
    assert_eq!(line.hear(4).await, "slow");
    // Four pieces up; of the way down at least the last piece comes after them.
    assert!(start.elapsed() >= delay * 5, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_proxy_that_is_dropped_takes_its_connections_along() {
    let mut line = line().await;
    let address = line.proxy.address();
    let (server, _) = echo().await;
    line.proxy = FaultProxy::before(server).await.unwrap();
    line.ended().await;
    assert!(
        timeout(LONG, async {
            while TcpStream::connect(address).await.is_ok() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .is_ok()
    );
}
