//! `throughline demo`.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::running::{Running, ask, run, throughline};

#[test]
fn the_story_is_told_in_under_three_seconds_and_fits_eighty_columns_without_colour() {
    let start = Instant::now();
    let (status, stdout, stderr) = run(&mut throughline(&["demo", "--exit"]));
    let took = start.elapsed();
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(took < Duration::from_secs(3), "it took {took:?}");
    assert!(!stdout.contains('\u{1b}'), "colour without a terminal");
    for line in stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let (story, rest) = stdout.split_once("Mina sits down").unwrap();
    for place in ["Telegram", "Teams"] {
        assert!(story.contains(place), "{place}\n{stdout}");
    }
    let (block, recent) = rest.split_once("Mina's recent turns").unwrap();
    for line in [
        "## Recent context from other channels",
        "- teams-aad, 12 min ago, user: I'm downstairs.",
        "- telegram-chat, 44 min ago, assistant: Noted for quote 2041",
    ] {
        assert!(block.contains(line), "{line}\n{stdout}");
    }
    let channels: Vec<&str> = recent
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().nth(1))
        .take(6)
        .collect();
    let expected = [
        "desktop",
        "teams-aad",
        "teams-aad",
        "telegram-chat",
        "telegram-chat",
        "telegram-chat",
    ];
    assert_eq!(channels, expected, "newest first\n{stdout}");
    // One person: every turn is stored for the same user.
    let users: std::collections::BTreeSet<&str> = stdout
        .lines()
        .filter(|line| line.starts_with("  stored for"))
        .filter_map(|line| line.split(' ').next_back())
        .collect();
    assert_eq!(users.len(), 1, "{stdout}");
}

#[test]
fn it_stays_up_with_curl_lines_that_work_until_ctrl_c() {
    let mut demo = Running::start(&mut throughline(&["demo"]));
    let told = demo.output_until("Ctrl-C");
    let lines: Vec<&str> = told.lines().collect();
    let commands: Vec<String> = lines
        .windows(2)
        .filter(|pair| pair[0].starts_with("curl "))
        .map(|pair| format!("{}\n{}", pair[0], pair[1]))
        .collect();
    assert_eq!(commands.len(), 2, "{told}");
    let turns = fetch(&commands[0]);
    assert_eq!(turns["turns"].as_array().unwrap().len(), 6, "{turns}");
    let context = fetch(&commands[1]);
    assert!(
        context["block"].as_str().unwrap().contains("Brunner"),
        "{context}"
    );
    demo.signal("INT");
    let (status, rest, _) = demo.ended();
    assert_eq!(status, Some(0));
    assert!(rest.contains("nothing was kept"), "{rest}");
}

/// What the command prints: by a shell with curl where there is one, else by hand.
fn fetch(command: &str) -> serde_json::Value {
    let curl = Command::new("curl").arg("--version").output();
    let body = if curl.is_ok_and(|output| output.status.success()) {
        let output = Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}");
        String::from_utf8(output.stdout).unwrap()
    } else {
        let key = command
            .split("Bearer ")
            .nth(1)
            .unwrap()
            .split('\'')
            .next()
            .unwrap();
        let url = command.split_whitespace().next_back().unwrap();
        let (address, path) = url.split_once('/').unwrap();
        ask(address, "GET", &format!("/{path}"), key, "").body
    };
    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
}
