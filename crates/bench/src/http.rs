//! A client that costs next to nothing: it shares the cores with what it measures. One connection,
//! kept alive; only answers with a `content-length` are understood, which are all that the service
//! gives.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::fault::BenchError;

/// One connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// A whole answer.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a str,
}

impl Connection {
    /// To `host:port`.
    pub(crate) async fn open(address: &str) -> Result<Self, BenchError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(16 * 1024),
        })
    }

    /// Sends a whole request, head and body, and reads the whole answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>, BenchError> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (status, body, end) = loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(unreadable());
            }
            if let Some((status, head, length)) = head(&self.buffer)? {
                break (status, head, head + length);
            }
        };
        while self.buffer.len() < end {
            self.buffer.reserve(end - self.buffer.len());
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(unreadable());
            }
        }
        let body = std::str::from_utf8(&self.buffer[body..end]).map_err(|_| unreadable())?;
        Ok(Answer { status, body })
    }
}

/// Status, length of the head, length of the body; `None` while the head is not whole.
fn head(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>, BenchError> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| unreadable())?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    match (status, length) {
        (Some(status), Some(length)) => Ok(Some((status, end + 4, length))),
        _ => Err(unreadable()),
    }
}

fn unreadable() -> BenchError {
    BenchError::Answer("the service gave an answer that cannot be read".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_whole() {
        let whole = b"HTTP/1.1 201 Created\r\nx: y\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(head(whole).unwrap(), Some((201, whole.len() - 5, 5)));
        assert_eq!(head(&whole[..30]).unwrap(), None);
        assert!(head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
