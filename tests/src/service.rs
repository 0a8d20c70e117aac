//! A running `throughline serve`.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Client, binary};

/// A server process; it is killed when dropped.
pub struct Service {
    child: Child,
    port: u16,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    log: Arc<Mutex<String>>,
}

impl Service {
    /// Starts `serve` on a free port with these further arguments and variables. Does not wait.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start_at(free_port(), arguments, environment)
    }

    /// The same on that port, where a server that was ended may have been before.
    pub fn start_at(port: u16, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let arguments: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
        let environment: Vec<(String, String)> = environment.iter().map(own).collect();
        let log = Arc::new(Mutex::new(String::new()));
        Self {
            child: spawn(port, &arguments, &environment, &log),
            port,
            arguments,
            environment,
            log,
        }
    }

    /// Kills the process at once, as `kill -9` does. Nobody listens on its port when this returns.
    pub fn kill(&mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("a child can be waited for");
    }

    /// Starts another process where the last one was, with the same arguments and variables. Does not wait.
    pub fn restart(&mut self) -> &mut Self {
        self.kill();
        self.child = spawn(self.port, &self.arguments, &self.environment, &self.log);
        self
    }

    /// Waits until `/readyz` answers 200; shows the log when that does not happen.
    pub async fn ready(&mut self) -> &mut Self {
        let client = self.client("");
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = client.call(http::Method::GET, "/readyz", None).await;
            if answer.is_ok_and(|answer| answer.status == 200) {
                return self;
            }
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                panic!("the service ended with {status}:\n{}", self.log());
            }
            assert!(
                Instant::now() < deadline,
                "the service is not ready:\n{}",
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A client with that key.
    pub fn client(&self, key: &str) -> Client {
        Client::new(self.url(), key)
    }

    /// Everything it has written so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("no holder panics").clone()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a process id fits");
        let pid = Pid::from_raw(pid).expect("a process id is positive");
        kill_process(pid, signal).expect("the process is ours");
    }

    /// Waits for its end, at most that long.
    pub async fn ended(&mut self, within: Duration) -> ExitStatus {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                return status;
            }
            assert!(Instant::now() < deadline, "still running:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(
    port: u16,
    arguments: &[String],
    environment: &[(String, String)],
    log: &Arc<Mutex<String>>,
) -> Child {
    let listen = format!("127.0.0.1:{port}");
    let mut command = binary::throughline_command(&["serve", "--listen", &listen]);
    let environment = environment.iter().map(|(name, value)| (name, value));
    command.args(arguments).envs(environment);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary can be started");
    collect(child.stdout.take(), log);
    collect(child.stderr.take(), log);
    child
}

fn collect(stream: Option<impl std::io::Read + Send + 'static>, log: &Arc<Mutex<String>>) {
    let Some(stream) = stream else { return };
    let log = Arc::clone(log);
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut log = log.lock().expect("no holder panics");
            log.push_str(&line);
            log.push('\n');
        }
    });
}

fn free_port() -> u16 {
    let probe = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    probe
        .local_addr()
        .expect("a bound socket has an address")
        .port()
}
