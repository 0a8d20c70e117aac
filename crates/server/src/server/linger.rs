//! The end of a connection whose client may still be sending.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

const LONGEST: Duration = Duration::from_secs(2);
const MOST_BYTES: usize = 16 * 1024 * 1024;
const CHUNK_BYTES: usize = 16 * 1024;

/// Whether a request's body was left unread.
#[derive(Clone, Default)]
pub(super) struct Owed(Arc<AtomicBool>);

impl Owed {
    /// Watches the body of the connection's next request.
    pub(super) fn watch<B: HttpBody>(&self, body: B) -> Watched<B> {
        self.0.store(!body.is_end_stream(), Ordering::Relaxed);
        Watched {
            body,
            owed: self.clone(),
        }
    }
}

/// A body that tells when it was read to its end.
pub(super) struct Watched<B> {
    body: B,
    owed: Owed,
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.owed.0.store(false, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that, when it is shut down while a body is owed, says that it will send no more, and then reads
/// and throws away what still comes, for a bounded time and size. Closed at once, the system would answer
/// the client's next bytes with a reset, and a client that writes everything before it reads would never
/// see why it was refused.
pub(super) struct Lingering<S> {
    inner: S,
    owed: Owed,
    rest: Option<Rest>,
}

struct Rest {
    timer: Pin<Box<Sleep>>,
    bytes: usize,
}

impl<S> Lingering<S> {
    pub(super) fn new(inner: S, owed: Owed) -> Self {
        Self {
            inner,
            owed,
            rest: None,
        }
    }
}

impl<S: AsyncRead + Unpin> Lingering<S> {
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let rest = self.rest.get_or_insert_with(|| Rest {
            timer: Box::pin(sleep(LONGEST)),
            bytes: 0,
        });
        let mut chunk = [0; CHUNK_BYTES];
        while rest.bytes < MOST_BYTES && rest.timer.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut chunk);
            // A client that broke off is owed no more patience.
            if ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buffer)).is_err() {
                break;
            }
            match buffer.filled().len() {
                0 => break,
                read => rest.bytes += read,
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.rest.is_none() {
            ready!(Pin::new(&mut self.inner).poll_shutdown(cx))?;
        }
        if self.owed.0.load(Ordering::Relaxed) {
            ready!(self.poll_rest(cx));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;

    fn owed() -> Owed {
        let owed = Owed::default();
        let _ = owed.watch(Full::new(Bytes::from_static(b"unread")));
        owed
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_on_gets_the_answer_and_is_read_to_its_end() {
        let (near, mut far) = duplex(64);
        let mut near = Lingering::new(near, owed());
        let client = async {
            far.write_all(&[7; 100_000]).await.unwrap();
            let mut answer = String::new();
            far.read_to_string(&mut answer).await.unwrap();
            drop(far);
            answer
        };
        let server = async {
            near.write_all(b"no").await.unwrap();
            near.shutdown().await.unwrap();
        };
        let began = Instant::now();
        let (answer, ()) = tokio::join!(client, server);
        assert_eq!(answer, "no");
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends_with_its_time_and_its_size() {
        let (near, _silent) = duplex(64);
        let began = Instant::now();
        Lingering::new(near, owed()).shutdown().await.unwrap();
        assert!(began.elapsed() >= LONGEST && began.elapsed() < LONGEST * 2);

        let (near, mut far) = duplex(CHUNK_BYTES);
        let mut near = Lingering::new(near, owed());
        let endless = async {
            let mut sent = 0;
            while let Ok(written) = far.write(&[7; CHUNK_BYTES]).await {
                sent += written;
            }
            sent
        };
        let server = async {
            near.shutdown().await.unwrap();
            drop(near);
        };
        let (sent, ()) = tokio::join!(endless, server);
        assert!(
            (MOST_BYTES..MOST_BYTES + 4 * CHUNK_BYTES).contains(&sent),
            "{sent}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_owes_nothing_is_closed_at_once() {
        let (near, _far) = duplex(64);
        let began = Instant::now();
        let none = Owed::default();
        Lingering::new(near, none).shutdown().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
