//! Mistakes on the command line and in the configuration, and what never shows.

use std::io::Write as _;

use crate::running::{key, run, throughline};

fn one_line(stderr: &str) {
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("throughline: "), "{stderr}");
}

#[test]
fn an_unknown_configuration_key_is_refused_with_path_and_line() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "# a sample\nlisten = \"127.0.0.1:0\"\npol_size = 4").unwrap();
    let path = file.path().to_str().unwrap();
    let (status, _, stderr) = run(&mut throughline(&["serve", "--dev", "--config", path]));
    assert_eq!(status, Some(2));
    one_line(&stderr);
    assert!(
        stderr.contains(&format!("unknown_setting: {path}:3: ")),
        "{stderr}"
    );
    assert!(stderr.contains("did you mean \"pool_size\"?"), "{stderr}");
}

#[test]
fn mistakes_are_one_line_with_a_code_and_end_with_two() {
    for (arguments, code) in [
        (&[][..], "no_command"),
        (&["serve"], "no_database"),
        (&["migrate"], "no_database"),
        (&["admin", "tenant", "list"], "no_database"),
        (&["serve", "--nonsense"], "wrong_usage"),
        (&["serve", "--dev=perhaps"], "invalid_setting"),
        (&["serve", "--dev", "--dev-key", "short"], "invalid_setting"),
        (
            &["serve", "--dev", "--database-url", "postgres://h/d"],
            "ambiguous_store",
        ),
        (&["serve", "--dev", "--migrate"], "ambiguous_store"),
        (&["serve", "--dev", "--key-cache", "6s"], "invalid_setting"),
        (&["serve", "--dev", "--pool-wait", "0s"], "invalid_setting"),
        (
            &[
                "serve",
                "--dev",
                "--dev-key",
                "one-key-for-both-of-them",
                "--dev-operator-key",
                "one-key-for-both-of-them",
            ],
            "invalid_setting",
        ),
        (&["serve", "--dev", "--replicas", "2"], "one_process_only"),
        (
            &["serve", "--database-url", "mysql://h/d"],
            "invalid_database",
        ),
        (&["serve", "--config", "no/such/file"], "unreadable_config"),
        (
            &["import", "-", "--tenant", "No", "--key", "k"],
            "invalid_tenant",
        ),
        (
            &[
                "import", "-", "--tenant", "a", "--key", "k", "--url", "ftp://h",
            ],
            "invalid_url",
        ),
    ] {
        let (status, stdout, stderr) = run(&mut throughline(arguments));
        assert_eq!(status, Some(2), "{arguments:?}: {stderr}");
        one_line(&stderr);
        assert!(
            stderr.starts_with(&format!("throughline: {code}: ")),
            "{arguments:?}: {stderr}"
        );
        assert_eq!(stdout, "");
    }
}

// failures.md 33
#[test]
fn a_secret_shows_neither_in_the_help_nor_among_the_settings_nor_in_an_error() {
    for arguments in [
        &["serve", "--help"][..],
        &["serve", "--print-config"],
        &["serve", "--dev"],
        &["serve", "--database-url", "mysql://u:p@h/d"],
        &["import", "--help"],
        &["migrate", "--help"],
    ] {
        let mut command = throughline(arguments);
        for name in [
            "CCM_DATABASE_URL",
            "CCM_METRICS_TOKEN",
            "CCM_DEV_KEY",
            "CCM_KEY",
        ] {
            command.env(name, format!("postgres://u:{}@127.0.0.1:1/d", key()));
        }
        let (_, stdout, stderr) = run(&mut command);
        assert!(
            !format!("{stdout}{stderr}").contains(&key()),
            "{arguments:?}"
        );
        assert!(!stderr.contains("u:p@"), "{stderr}");
    }
}

#[test]
fn the_settings_in_force_are_printed_with_their_sources() {
    let mut command = throughline(&["serve", "--print-config", "--pool-size", "3"]);
    command
        .env("CCM_LISTEN", "127.0.0.1:9")
        .env("CCM_METRICS_TOKEN", key());
    let (status, stdout, _) = run(&mut command);
    assert_eq!(status, Some(0));
    for line in [
        "pool_size = \"3\"  # flag",
        "listen = \"127.0.0.1:9\"  # CCM_LISTEN",
        "metrics_token = \"***\"  # CCM_METRICS_TOKEN",
        "body_limit = \"4MiB\"  # default",
        "# database_url is not set",
    ] {
        assert!(
            stdout.lines().any(|printed| printed == line),
            "{line}\n{stdout}"
        );
    }
}

#[test]
fn version_tells_the_build() {
    let (status, stdout, _) = run(&mut throughline(&["version", "--json"]));
    assert_eq!(status, Some(0));
    let version: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    assert!(version["rustc"].as_str().unwrap().starts_with("rustc "));
}

#[test]
fn the_version_is_a_flag_too() {
    let (status, stdout, _) = run(&mut throughline(&["--version"]));
    assert_eq!(status, Some(0));
    assert_eq!(
        stdout,
        format!("throughline {}\n", env!("CARGO_PKG_VERSION"))
    );
}
