//! `throughline redact` and `throughline bench redaction`.

use std::io::Write as _;
use std::process::Stdio;

use crate::running::{run, throughline};

const LINES: &str = "{\"id\":7,\"text\":\"ß jo@example.com\"}\n{\"id\":\"b\",\"text\":\"see https://example.com\"}\n";

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn spans_are_told_in_code_points_or_bytes_with_every_type() {
    let file = file(LINES);
    let path = file.path().to_str().unwrap();
    for (arguments, start, end) in [
        (&["redact", path][..], 2, 16),
        (&["redact", "--offsets", "codepoint", path], 2, 16),
        (&["redact", "--offsets", "byte", path], 3, 17),
    ] {
        let (status, stdout, stderr) = run(&mut throughline(arguments));
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        let lines: Vec<serde_json::Value> = stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["id"], 7);
        let span = &lines[0]["spans"][0];
        assert_eq!((&span["start"], &span["end"]), (&start.into(), &end.into()));
        assert_eq!(span["type"], "EMAIL");
        assert!(span["score"].as_f64().unwrap() > 0.5);
        assert_eq!(
            (&lines[1]["id"], &lines[1]["spans"][0]["type"]),
            (&"b".into(), &"URL".into())
        );
    }
}

#[test]
fn masked_text_is_written_from_standard_input() {
    for arguments in [&["redact", "--mask"][..], &["redact", "--mask", "-"]] {
        let mut command = throughline(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(LINES.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let first = stdout.lines().next().unwrap();
        assert_eq!(first, "{\"id\":7,\"text\":\"ß [EMAIL]\"}");
    }
}

#[test]
fn a_wrong_line_or_file_is_one_line_with_a_code() {
    let file = file("{\"id\":1,\"text\":\"a\"}\n{\"id\":2}\n");
    let path = file.path().to_str().unwrap();
    for (path, code, told) in [
        (path, "invalid_line", "line 2"),
        ("no/such/file", "unreadable_input", "no/such/file"),
    ] {
        let (status, _, stderr) = run(&mut throughline(&["redact", path]));
        assert_eq!(status, Some(1));
        assert!(
            stderr.starts_with(&format!("throughline: {code}: ")),
            "{stderr}"
        );
        assert!(
            stderr.contains(told) && stderr.lines().count() == 1,
            "{stderr}"
        );
    }
}

#[test]
fn the_bench_prints_megabytes_a_second() {
    let file = file(LINES);
    let path = file.path().to_str().unwrap();
    let (status, stdout, _) = run(&mut throughline(&["bench", "redaction", path]));
    assert_eq!(status, Some(0));
    assert!(stdout.contains(" MB/s per core (2 texts, "), "{stdout}");
}
