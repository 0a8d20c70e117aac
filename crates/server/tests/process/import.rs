//! `throughline import` into a service in memory.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::running::{Running, key, run, throughline};

fn body(n: u32, message: &str) -> String {
    json!({
        "client_message_id": format!("k{n}"), "ref": {"kind": "custom", "id": "mina"},
        "channel_kind": "telegram-chat", "channel_scope": "c",
        "turn": {"user_message": message, "assistant_answer": ""},
    })
    .to_string()
}

fn import(address: &str, file: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let url = format!("http://{address}");
    let mut command = throughline(&["import", file, "--tenant", "dev", "--url", &url]);
    run(command.args(more).env("CCM_KEY", key()))
}

#[test]
fn a_second_run_stores_nothing_twice_and_bad_lines_never_stop_the_rest() {
    let (_service, address) = Running::serve_dev(&key(), &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("appends.jsonl");
    let rejects = folder.path().join("rejects.jsonl");
    let mut lines: Vec<Vec<u8>> = (1..=25).map(|n| body(n, "hello").into_bytes()).collect();
    lines[3] = b"not json".to_vec();
    lines[7] = b"\xff\xfe".to_vec();
    lines[11] = body(12, "a\u{0}b").into_bytes();
    lines[15] = vec![b'x'; 5 * 1024 * 1024];
    lines[19] = b"{\"client_message_id\":\"k20\",\"turn\":\"\\ud800\"}".to_vec();
    std::fs::write(&file, lines.join(&b'\n')).unwrap();
    let (file, rejects_path) = (file.to_str().unwrap(), rejects.to_str().unwrap());
    let more = ["--batch", "10", "--rejects", rejects_path];
    for summary in [
        "20 stored, 0 duplicates, 5 rejected\n",
        "0 stored, 20 duplicates, 5 rejected\n",
    ] {
        let (status, stdout, stderr) = import(&address, file, &more);
        assert_eq!((status, stdout.as_str()), (Some(1), summary), "{stderr}");
        assert_eq!(
            stderr,
            "throughline: lines_rejected: 5 lines were refused\n"
        );
        let text = std::fs::read_to_string(&rejects).unwrap();
        let mut told: Vec<(u64, String)> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|row| {
                (
                    row["line"].as_u64().unwrap(),
                    row["code"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        told.sort();
        let told: Vec<(u64, &str)> = told
            .iter()
            .map(|(line, code)| (*line, code.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (4, "invalid_json"),
                (8, "not_utf8"),
                (12, "invalid_text"),
                (16, "line_too_long"),
                (20, "invalid_text")
            ]
        );
    }
}

#[test]
fn standard_input_is_read_and_a_good_import_ends_well_without_a_bar() {
    let (_service, address) = Running::serve_dev(&key(), &[]);
    let url = format!("http://{address}");
    let mut child = throughline(&["import", "-", "--tenant", "dev", "--url", &url])
        .env("CCM_KEY", key())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for n in 0..700 {
        writeln!(stdin, "{}", body(n, "hello")).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    assert_eq!(
        text(output.stdout),
        "700 stored, 0 duplicates, 0 rejected\n"
    );
    assert_eq!(text(output.stderr), "");
}

#[test]
fn ctrl_c_prints_the_summary_so_far() {
    let (_service, address) = Running::serve_dev(&key(), &[]);
    let url = format!("http://{address}");
    let mut command = throughline(&[
        "import", "-", "--tenant", "dev", "--url", &url, "--batch", "1",
    ]);
    let mut child = command
        .env("CCM_KEY", key())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The second line says that the first was sent, once it is seen in the store.
    writeln!(stdin, "{}\n{}", body(1, "hello"), body(2, "hello")).unwrap();
    let path = "/v1/tenants/dev/history?channel_kind=telegram-chat&channel_scope=c";
    while !crate::running::ask(&address, "GET", path, &key(), "")
        .body
        .contains("hello")
    {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-s", "INT", &pid])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(1));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.ends_with("duplicates, 0 rejected\n") || stdout.contains(" stored, 0 duplicates"),
        "{stdout}"
    );
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("throughline: interrupted: stopped by SIGINT"),
        "{stderr}"
    );
}

#[test]
fn a_wrong_key_ends_the_import_with_the_services_own_words() {
    let (_service, address) = Running::serve_dev(&key(), &[]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body(1, "hello")).unwrap();
    let more = ["--key", "not-the-key-of-this-test"];
    let (status, stdout, stderr) = import(&address, file.path().to_str().unwrap(), &more);
    assert_eq!(
        (status, stdout.as_str()),
        (Some(1), "0 stored, 0 duplicates, 0 rejected\n")
    );
    assert!(
        stderr.starts_with("throughline: refused: the service refused with 401 unauthorized"),
        "{stderr}"
    );
}

#[test]
fn the_file_of_refusals_is_never_written_over_the_input() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body(1, "hello")).unwrap();
    let path = file.path().to_str().unwrap();
    let (status, _, stderr) = import("127.0.0.1:9", path, &["--rejects", path]);
    assert_eq!(status, Some(2), "{stderr}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), body(1, "hello"));
}

#[test]
fn an_import_waits_for_a_service_that_is_not_there_yet() {
    let probe = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = probe.local_addr().unwrap().to_string();
    let url = format!("http://{address}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body(1, "hello")).unwrap();
    let path = file.path().to_str().unwrap();
    let mut command = throughline(&["import", path, "--tenant", "dev", "--url", &url]);
    let import = command
        .env("CCM_KEY", key())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It was there, and the connection is lost without an answer.
    drop(probe.accept().unwrap());
    drop(probe);
    let (_service, _) = Running::serve_dev_at(&address, &key(), &[]);
    let output = import.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(output.stdout, b"1 stored, 0 duplicates, 0 rejected\n");
}
