//! Starting the binary, reading what it says, talking HTTP to it.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

/// The binary with nothing of the caller's configuration.
pub(crate) fn throughline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throughline"));
    command.args(arguments).env_remove("NO_COLOR");
    for (name, _) in std::env::vars() {
        if name.starts_with("CCM_") || name.starts_with("PI_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs it to its end: exit status, standard output, standard error.
pub(crate) fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A running process; killed when dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// `serve --dev` on a free port with that key; its address.
    pub(crate) fn serve_dev(key: &str, arguments: &[&str]) -> (Self, String) {
        Self::serve_dev_at("127.0.0.1:0", key, arguments)
    }

    /// The same at that address.
    pub(crate) fn serve_dev_at(listen: &str, key: &str, arguments: &[&str]) -> (Self, String) {
        let mut command = throughline(&["serve", "--dev", "--listen", listen]);
        command.args(arguments).env("CCM_DEV_KEY", key);
        let mut running = Self::start(&mut command);
        let line = running.log_line("listening");
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        let address = event["address"].as_str().unwrap().to_owned();
        (running, address)
    }

    /// Standard output up to the line that has this text.
    pub(crate) fn output_until(&mut self, text: &str) -> String {
        read_until(&mut self.stdout, text)
    }

    /// The next log line that has this text.
    pub(crate) fn log_line(&mut self, text: &str) -> String {
        let read = read_until(&mut self.stderr, text);
        read.lines().last().unwrap_or_default().to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Waits for the end: exit status, and what was not read yet.
    pub(crate) fn ended(mut self) -> (Option<i32>, String, String) {
        let mut rest = (String::new(), String::new());
        self.stdout.read_to_string(&mut rest.0).unwrap();
        self.stderr.read_to_string(&mut rest.1).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), rest.0, rest.1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_until(from: &mut impl BufRead, text: &str) -> String {
    let mut read = String::new();
    loop {
        let start = read.len();
        let bytes = from.read_line(&mut read).unwrap();
        assert!(bytes > 0, "it ended before it said {text:?}:\n{read}");
        if read[start..].contains(text) {
            return read;
        }
    }
}

/// An HTTP answer: status and body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// One request on a connection of its own.
pub(crate) fn ask(address: &str, method: &str, path: &str, key: &str, body: &str) -> Answer {
    let mut stream = connect(address);
    begin(&mut stream, method, path, key, body);
    finish(stream)
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

/// Sends a request and does not wait.
pub(crate) fn begin(stream: &mut TcpStream, method: &str, path: &str, key: &str, body: &str) {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
}

/// Reads the answer to its end.
pub(crate) fn finish(mut stream: TcpStream) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    Answer {
        status: status.unwrap_or_else(|| panic!("no HTTP answer: {text:?}")),
        body: body.to_owned(),
    }
}

/// A key for development, put together here so that no key stands in the source.
pub(crate) fn key() -> String {
    ["a-key-for", "-this-test"].concat()
}
