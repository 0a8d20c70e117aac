//! A whole archive of conversations goes in, comes back, and goes in again without a trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_redaction::{Detector, MaskPolicy, mask_text};
use throughline_tests::{
    Client, Finished, Service, World, recent_turns, throughline, throughline_command,
};

/// Append bodies in the order they are imported.
struct Archive {
    folder: TempDir,
    bodies: Vec<Value>,
}

impl Archive {
    /// The shared dialogues where they are at hand, otherwise as many made-up turns.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the archive");
        let file = folder.path().join("appends.jsonl");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("tests/ is in the root");
        let dialogues = std::env::var_os("THROUGHLINE_DIALOGUES").map_or_else(
            || root.join("../shared/data/conversations/dialogues.jsonl"),
            PathBuf::from,
        );
        if dialogues.exists() {
            let made = Command::new("python3")
                .arg(root.join("tests/dialogues_to_appends.py"))
                .arg(&dialogues)
                .arg("--shift-to-now")
                .output()
                .expect("python3 runs the script");
            assert!(
                made.status.success(),
                "{}",
                String::from_utf8_lossy(&made.stderr)
            );
            std::fs::write(&file, made.stdout).expect("the folder can be written");
        } else {
            println!("no dialogues at hand: the archive is made up");
            std::fs::write(&file, made_up()).expect("the folder can be written");
        }
        let text = std::fs::read_to_string(&file).expect("just written");
        let bodies = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("one append body a line"))
            .collect();
        Self { folder, bodies }
    }

    fn file(&self) -> String {
        self.folder
            .path()
            .join("appends.jsonl")
            .display()
            .to_string()
    }

    /// Bodies by the value of a field, in the order of the file.
    fn by(&self, key: impl Fn(&Value) -> String) -> BTreeMap<String, Vec<&Value>> {
        let mut bodies: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for body in &self.bodies {
            bodies.entry(key(body)).or_default().push(body);
        }
        bodies
    }
}

/// What a body and a turn read back have in common.
fn said(turn: &Value, texts: &Value) -> Value {
    json!({
        "channel_kind": turn["channel_kind"],
        "channel_scope": turn["channel_scope"],
        "user_message": texts["user_message"],
        "assistant_answer": texts["assistant_answer"],
        "timestamp_ms": texts["timestamp_ms"],
        "metadata": if turn["metadata"].is_null() { json!({}) } else { turn["metadata"].clone() },
    })
}

/// The same with masks in the place of what a default reader does not get.
fn masked(detector: &Detector, body: &Value) -> Value {
    let mut said = said(body, &body["turn"]);
    for field in ["user_message", "assistant_answer"] {
        let text = said[field].as_str().expect("a text");
        let spans = detector.scan_text(text);
        let masked = mask_text(text, &spans, &MaskPolicy::default()).expect("spans of this text");
        said[field] = json!(masked);
    }
    said
}

/// 4,421 turns of 40 people on 5 channels, in the order of time, ending now.
fn made_up() -> String {
    let kinds = [
        "discord-user",
        "whatsapp-phone",
        "telegram-chat",
        "teams-aad",
        "slack-user",
    ];
    let now = std::time::UNIX_EPOCH
        .elapsed()
        .expect("after 1970")
        .as_millis();
    let mut lines = String::new();
    for n in 0..4_421_u64 {
        let (person, dialogue) = (n % 40, n / 800);
        let body = json!({
            "client_message_id": format!("made-up:{n}"),
            "ref": { "kind": "custom", "id": format!("p{person:02}") },
            "channel_kind": kinds[usize::try_from(n % 5).expect("small")],
            "channel_scope": format!("d-{person}-{dialogue}"),
            "turn": {
                "user_message": format!("Zürich 🚆 nach «Bern» um {n}?"),
                "assistant_answer": format!("Um {n}:02 auf Gleis {}.", n % 17),
                "timestamp_ms": u64::try_from(now).expect("fits") - (4_421 - n) * 1_000,
            },
        });
        lines.push_str(&body.to_string());
        lines.push('\n');
    }
    lines
}

fn import(archive: &Archive, client: &Client, tenant: &str) -> Finished {
    let (file, url) = (archive.file(), client.url());
    throughline(
        &[
            "import",
            &file,
            "--url",
            url,
            "--tenant",
            tenant,
            "--key",
            client.key(),
        ],
        &[],
    )
}

/// Every person's turns across channels come back byte for byte to an operator, and every scope's
/// history comes back with the masks that any reader gets.
async fn everything_is_there(archive: &Archive, operator: &Client, tenant: &str) {
    for (person, bodies) in archive.by(|body| body["ref"]["id"].to_string()) {
        let id = person.trim_matches('"');
        let path = format!("/v1/tenants/{tenant}/identities?kind=custom&id={id}");
        let user = operator.get(&path).await.ok();
        let user = user["user_id"].as_str().expect("an id");
        let read = recent_turns(operator, tenant, user, "&include_raw=true").await;
        let read: Vec<Value> = read.iter().rev().map(|turn| said(turn, turn)).collect();
        let sent: Vec<Value> = bodies
            .iter()
            .map(|body| said(body, &body["turn"]))
            .collect();
        assert_eq!(read, sent, "{person}");
    }
    let scope = |body: &Value| {
        let part = |name: &str| body[name].as_str().expect("a text").to_owned();
        format!(
            "channel_kind={}&channel_scope={}",
            part("channel_kind"),
            part("channel_scope")
        )
    };
    let detector = Detector::default();
    for (scope, bodies) in archive.by(scope) {
        let path = format!("/v1/tenants/{tenant}/history?{scope}&limit=100");
        let history = operator.get(&path).await.ok();
        let turns = history["turns"].as_array().expect("a list of turns");
        let read: Vec<Value> = turns.iter().map(|turn| said(turn, turn)).collect();
        let latest = &bodies[bodies.len().saturating_sub(100)..];
        let sent: Vec<Value> = latest.iter().map(|body| masked(&detector, body)).collect();
        assert_eq!(read, sent, "{scope}");
    }
}

async fn imports_once(archive: &Archive, client: &Client, operator: &Client, tenant: &str) {
    let turns = archive.bodies.len();
    let first = import(archive, client, tenant).succeeded();
    assert!(
        first.stdout.contains(&format!("{turns} stored")),
        "{first:?}"
    );
    everything_is_there(archive, operator, tenant).await;
    let second = import(archive, client, tenant).succeeded();
    assert!(
        second.stdout.contains(&format!("{turns} duplicates")),
        "{second:?}"
    );
    assert!(second.stdout.contains("0 stored"), "{second:?}");
    everything_is_there(archive, operator, tenant).await;
}

#[tokio::test]
async fn an_archive_comes_back_in_order_and_a_second_import_changes_nothing_on_postgres() {
    let world = World::start().await;
    let archive = Archive::new();
    imports_once(&archive, &world.acme, &world.operator, "acme").await;
    let rows = world
        .database
        .psql("select count(*) from cross_channel_messages")
        .expect("reads");
    assert_eq!(rows.trim(), archive.bodies.len().to_string());
    let drift = "select count(*) from users u left join lateral \
        (select count(*) as turns, coalesce(sum(user_message_bytes + assistant_bytes + aux_bytes), 0) as bytes \
         from cross_channel_messages m where m.tenant_id = u.tenant_id and m.user_id = u.user_id) m on true \
         where u.turn_count <> m.turns or u.byte_count <> m.bytes";
    assert_eq!(
        world.database.psql(drift).expect("reads").trim(),
        "0",
        "counters are exact"
    );
}

#[tokio::test]
async fn an_archive_comes_back_in_order_and_a_second_import_changes_nothing_in_memory() {
    let key = ["a-key-for", "-this-test"].concat();
    let operator = ["an-operator-for", "-this-test"].concat();
    let keys = ["--dev", "--dev-key", &key, "--dev-operator-key", &operator];
    let mut service = Service::start(&keys, &[]);
    service.ready().await;
    let operator = service.client(&operator);
    imports_once(&Archive::new(), &service.client(&key), &operator, "dev").await;
}

/// How many turns the service has stored since it started.
async fn stored(client: &Client) -> usize {
    let metrics = client.get("/metrics").await.ok();
    let lines = metrics.as_str().expect("text").lines();
    let appends = lines.filter(|line| line.starts_with("ccm_appends_total{"));
    appends
        .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
        .sum()
}

async fn killed_half_way(client: &Client, operator: &Client, tenant: &str) {
    let archive = Archive::new();
    let file = archive.file();
    let mut half = throughline_command(&[
        "import",
        &file,
        "--batch",
        "20",
        "--url",
        client.url(),
        "--tenant",
        tenant,
        "--key",
        client.key(),
    ])
    .stdout(Stdio::null())
    .stderr(Stdio::null())
    .spawn()
    .expect("the binary can be started");
    while stored(client).await < archive.bodies.len() / 4 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    half.kill().expect("killed");
    half.wait().expect("ended");
    // What the service had taken before the kill may still be on its way in.
    let again = import(&archive, client, tenant).succeeded();
    let number = |what: &str| {
        let before = again.stdout.split(what).next().expect("a summary");
        let digits = before
            .trim_end()
            .rsplit(|c: char| !c.is_ascii_digit())
            .next();
        digits
            .and_then(|digits| digits.parse::<usize>().ok())
            .expect("a number")
    };
    assert!(
        number("duplicates") > 0,
        "not killed at the start: {again:?}"
    );
    assert!(
        number("stored") > 0,
        "killed half-way, not at the end: {again:?}"
    );
    assert_eq!(
        number("stored") + number("duplicates"),
        archive.bodies.len()
    );
    everything_is_there(&archive, operator, tenant).await;
}

#[tokio::test]
async fn an_import_killed_half_way_and_run_again_gives_the_same_store_on_postgres() {
    let world = World::start().await;
    killed_half_way(&world.acme, &world.operator, "acme").await;
}

#[tokio::test]
async fn an_import_killed_half_way_and_run_again_gives_the_same_store_in_memory() {
    let key = ["a-key-for", "-this-test"].concat();
    let operator = ["an-operator-for", "-this-test"].concat();
    let keys = ["--dev", "--dev-key", &key, "--dev-operator-key", &operator];
    let mut service = Service::start(&keys, &[]);
    service.ready().await;
    killed_half_way(&service.client(&key), &service.client(&operator), "dev").await;
}

#[tokio::test]
async fn a_bad_line_never_stops_the_rest_and_is_told_by_its_number() {
    let world = World::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let good = |n: u32| {
        throughline_tests::append_body("mina", &format!("k{n}"), "slack-user", "C1", "hello")
    };
    let mut nul = good(3);
    nul["turn"]["user_message"] = json!("a\u{0}b");
    let lines = format!("{}\nnot json\n{}\n{nul}\n\n{}\n", good(1), good(2), good(4));
    let file = folder.path().join("appends.jsonl");
    let rejects = folder.path().join("rejects.jsonl");
    std::fs::write(&file, lines).expect("writes");
    let (file, rejects) = (file.display().to_string(), rejects.display().to_string());
    let run = throughline(
        &[
            "import",
            &file,
            "--rejects",
            &rejects,
            "--url",
            world.acme.url(),
            "--tenant",
            "acme",
            "--key",
            world.acme.key(),
        ],
        &[],
    );
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.stdout.contains("3 stored") && run.stdout.contains("2 rejected"),
        "{run:?}"
    );
    let rejects = std::fs::read_to_string(rejects).expect("written");
    let rejects: Vec<Value> = rejects
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON lines"))
        .collect();
    let told: Vec<(u64, &str)> = rejects
        .iter()
        .map(|r| {
            (
                r["line"].as_u64().expect("a number"),
                r["code"].as_str().expect("a code"),
            )
        })
        .collect();
    assert_eq!(told, [(2, "invalid_json"), (4, "invalid_text")]);
}
