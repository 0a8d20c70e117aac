//! Over a real connection: a refusal must reach a caller that is still sending.

use std::time::Duration;

use throughline_api::Settings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::service::service_with;

/// Sends the text, keeps the connection open, and reads until the service closes it.
async fn exchange(settings: Settings, request: impl FnOnce(&str) -> String) -> String {
    let service = service_with(settings, |_| {}).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let request = request(&service.key);
    let client = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    };
    tokio::select! {
        answer = client => answer,
        _ = axum::serve(listener, service.router.clone()) => unreachable!("it serves until dropped"),
    }
}

fn post(key: &str, headers: &str) -> String {
    format!(
        "POST /v1/tenants/acme/turns HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\n{headers}\r\n"
    )
}

#[tokio::test]
async fn a_body_that_is_announced_too_large_is_refused_before_it_is_sent() {
    let announced = |key: &str| post(key, "content-length: 99999999\r\n") + "{\"turn\":";
    let answer = exchange(Settings::default(), announced).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(
        answer.contains("\"code\":\"payload_too_large\""),
        "{answer}"
    );
}

#[tokio::test]
async fn a_body_that_stalls_is_refused_and_the_connection_closed() {
    let settings = Settings {
        body_timeout: Duration::from_millis(20),
        ..Settings::default()
    };
    let stalled = |key: &str| post(key, "transfer-encoding: chunked\r\n") + "8\r\n{\"turn\":\r\n";
    let answer = exchange(settings, stalled).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("\"code\":\"timeout\""), "{answer}");
}

#[tokio::test]
async fn a_head_request_has_the_headers_and_no_body() {
    let head = |_: &str| "HEAD /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned();
    let answer = exchange(Settings::default(), head).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}
