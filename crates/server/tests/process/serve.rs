//! `throughline serve --dev`.

use std::process::Command;

use serde_json::{Value, json};

use crate::running::{Running, ask, key, throughline};

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn what_is_said_on_one_channel_is_read_on_another() {
    let (_service, address) = Running::serve_dev(&key(), &[]);
    assert_eq!(ask(&address, "GET", "/livez", "", "").status, 200);
    assert_eq!(ask(&address, "GET", "/readyz", "", "").status, 200);
    assert_eq!(
        ask(&address, "GET", "/v1/tenants/dev/users/x/turns", "", "").status,
        401
    );
    let body = json!({
        "client_message_id": "t:1", "ref": {"kind": "telegram-chat", "id": "7"},
        "channel_kind": "telegram-chat", "channel_scope": "c",
        "turn": {"user_message": "which platform?", "assistant_answer": "platform 7"},
    });
    let turns = "/v1/tenants/dev/turns";
    let stored = ask(&address, "POST", turns, &key(), &body.to_string());
    assert_eq!(stored.status, 201, "{}", stored.body);
    let user = json_of(&stored.body)["user_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let recent = ask(
        &address,
        "GET",
        &format!("/v1/tenants/dev/users/{user}/turns"),
        &key(),
        "",
    );
    assert_eq!(
        json_of(&recent.body)["turns"][0]["assistant_answer"],
        "platform 7"
    );
    let again = ask(&address, "POST", turns, &key(), &body.to_string());
    assert_eq!(
        (again.status, json_of(&again.body)["duplicate"].clone()),
        (200, json!(true))
    );
}

#[test]
fn without_a_key_one_is_made_and_printed_once_with_a_command_that_works() {
    let mut command = throughline(&["serve", "--dev", "--listen", "127.0.0.1:0"]);
    let mut service = Running::start(&mut command);
    let welcome = service.output_until("\"turn\":");
    assert!(welcome.contains("nothing is kept"), "{welcome}");
    let token = welcome
        .lines()
        .find_map(|line| line.strip_prefix("key     "))
        .unwrap();
    assert!(token.starts_with("tlk_dev:"), "{welcome}");
    let (_, curl) = welcome.split_once("try it  ").unwrap();
    if Command::new("curl").arg("--version").output().is_ok() {
        let output = Command::new("sh").args(["-c", curl]).output().unwrap();
        let stored = json_of(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(stored["duplicate"], false, "{stored}");
    }
    service.signal("TERM");
    let (status, _, log) = service.ended();
    assert_eq!(status, Some(0), "{log}");
    assert!(!log.contains(token), "the key is in the log");
}

#[test]
fn an_operators_key_for_development_manages_tenants_with_the_configured_defaults() {
    let operator = ["an-operators", "-test-key"].concat();
    let arguments = ["--dev-operator-key", &operator, "--ttl-days", "7"];
    let (_service, address) = Running::serve_dev(&key(), &arguments);
    let body = json!({"tenant": "acme"}).to_string();
    assert_eq!(
        ask(&address, "POST", "/admin/tenants", &key(), &body).status,
        403
    );
    let made = ask(&address, "POST", "/admin/tenants", &operator, &body);
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(json_of(&made.body)["config"]["ttl_days"], 7);
}

// failures.md 33
#[test]
fn no_log_line_holds_what_was_said_or_a_key_even_when_everything_is_logged() {
    let (service, address) = Running::serve_dev(&key(), &["--log-filter", "trace"]);
    let body = json!({
        "client_message_id": "t:1", "ref": {"kind": "custom", "id": "planted-id"},
        "channel_kind": "custom", "channel_scope": "c",
        "turn": {"user_message": "planted-question", "assistant_answer": "planted-answer"},
    });
    let stored = ask(
        &address,
        "POST",
        "/v1/tenants/dev/turns",
        &key(),
        &body.to_string(),
    );
    assert_eq!(stored.status, 201, "{}", stored.body);
    service.signal("TERM");
    let (_, _, log) = service.ended();
    let request = log
        .lines()
        .map(json_of)
        .find(|event| event["http.status"] == 201);
    assert!(request.is_some(), "the request is logged as JSON\n{log}");
    for secret in ["planted", &key()] {
        assert!(!log.contains(secret), "{secret} is logged");
    }
}

#[test]
fn a_taken_address_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = throughline(&["serve", "--dev", "--listen", &address]);
    let (status, _, stderr) = crate::running::run(&mut command);
    assert_eq!(status, Some(1));
    assert!(
        stderr.contains("throughline: address_unusable: "),
        "{stderr}"
    );
}

/// The commands under a heading of the README, for a service at that address.
fn readme_commands(heading: &str, address: &str) -> String {
    let readme = include_str!("../../../../README.md");
    let (_, section) = readme.split_once(heading).unwrap();
    let (_, block) = section.split_once("```sh\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let lines = block
        .lines()
        .filter(|line| !line.starts_with("cargo ") && !line.starts_with("export "));
    lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace("localhost:8080", address)
}

#[test]
fn the_tour_of_the_readme_works() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("there is no curl on this machine: the tour is not taken");
        return;
    }
    let (_service, address) = Running::serve_dev(&key(), &[]);
    let commands = readme_commands("## A tour with curl", &address);
    let output = Command::new("bash")
        .args(["-ec", &commands])
        .env("CCM_DEV_KEY", key())
        .output();
    let answers = String::from_utf8(output.unwrap().stdout).unwrap();
    // The answers stand one behind the other, without line ends.
    let answers: Vec<Value> = serde_json::Deserializer::from_str(&answers)
        .into_iter()
        .map(|answer| answer.unwrap_or_else(|error| panic!("{error}: {answers}")))
        .collect();
    assert_eq!(answers.len(), 4, "{answers:?}");
    assert_eq!(answers[0]["duplicate"], false, "{answers:?}");
    assert_eq!(answers[1]["user_id"], answers[0]["user_id"]);
    assert_eq!(
        answers[2]["turns"][0]["assistant_answer"], "Platform 7.",
        "{answers:?}"
    );
    assert!(
        answers[3]["block"]
            .as_str()
            .unwrap()
            .contains("Platform 7."),
        "{answers:?}"
    );
}
