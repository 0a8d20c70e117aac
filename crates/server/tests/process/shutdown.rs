//! Stop signals.

use std::io::Write as _;

use serde_json::json;

use crate::running::{Running, ask, begin, connect, finish, key};

/// An append of which the last byte is still to come: it runs until that is sent. That it runs is known
/// from the interim answer, which the server sends when it begins to read the body.
fn half_a_request(address: &str) -> (std::net::TcpStream, String) {
    let body = json!({
        "client_message_id": "slow", "ref": {"kind": "custom", "id": "mina"},
        "channel_kind": "custom", "channel_scope": "c", "turn": {"user_message": "slowly"},
    })
    .to_string();
    let (first, last) = body.split_at(body.len() - 1);
    let mut stream = connect(address);
    let head = format!(
        "POST /v1/tenants/dev/turns HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        key(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut interim = [0; 25];
    std::io::Read::read_exact(&mut stream, &mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(first.as_bytes()).unwrap();
    (stream, last.to_owned())
}

#[test]
fn sigterm_answers_the_request_that_runs_and_then_ends_well() {
    let (mut service, address) = Running::serve_dev(&key(), &[]);
    let (mut stream, last) = half_a_request(&address);
    service.signal("TERM");
    service.log_line("asked to stop");
    while std::net::TcpStream::connect(&address).is_ok() {
        std::thread::yield_now();
    }
    stream.write_all(last.as_bytes()).unwrap();
    let answer = finish(stream);
    assert_eq!(answer.status, 201, "{}", answer.body);
    let (status, _, log) = service.ended();
    assert_eq!(status, Some(0), "{log}");
}

#[test]
fn during_the_drain_delay_readyz_says_no_while_requests_are_still_answered() {
    let (mut service, address) = Running::serve_dev(&key(), &["--drain-delay", "10m"]);
    service.signal("TERM");
    service.log_line("asked to stop");
    loop {
        let ready = ask(&address, "GET", "/readyz", "", "");
        if ready.status == 503 {
            break;
        }
        assert_eq!(ready.status, 200);
    }
    assert_eq!(ask(&address, "GET", "/livez", "", "").status, 200);
    service.signal("TERM");
    let (status, _, log) = service.ended();
    assert_eq!(status, Some(0), "nothing ran, nothing was cut: {log}");
}

#[test]
fn at_the_deadline_what_still_runs_is_cut_and_told() {
    let (service, address) = Running::serve_dev(&key(), &["--shutdown-deadline", "100ms"]);
    let (_stream, _) = half_a_request(&address);
    service.signal("TERM");
    let (status, _, log) = service.ended();
    assert_eq!(status, Some(1), "{log}");
    let last = log.lines().last().unwrap();
    assert!(last.starts_with("throughline: requests_cut: "), "{log}");
    assert!(last.contains("1 connection"), "{log}");
}

#[test]
fn a_second_signal_ends_at_once() {
    let (mut service, address) = Running::serve_dev(&key(), &[]);
    let (_stream, _) = half_a_request(&address);
    service.signal("INT");
    service.log_line("asked to stop");
    service.signal("INT");
    let (status, _, log) = service.ended();
    assert_eq!(status, Some(1), "{log}");
    assert!(log.contains("a second signal came"), "{log}");
}

#[test]
fn a_client_that_never_ends_its_head_is_let_go() {
    let (_service, address) = Running::serve_dev(&key(), &["--header-timeout", "100ms"]);
    let mut slow = connect(&address);
    slow.write_all(b"GET /livez HTTP/1.1\r\nhost: ").unwrap();
    let mut rest = Vec::new();
    // The read timeout of `connect` makes this an error when the server keeps the connection.
    std::io::Read::read_to_end(&mut slow, &mut rest).unwrap();
    let mut stream = connect(&address);
    begin(&mut stream, "GET", "/livez", "", "");
    assert_eq!(finish(stream).status, 200);
}
