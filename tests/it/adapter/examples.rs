//! The three programs of the adapter guide, against `serve --dev`.

use std::process::Command;

use throughline_tests::{Finished, Service, example};

/// Assembled here: a key that stands in a file would look like a secret.
fn key() -> String {
    ["a", "key", "for", "examples"].join("-")
}

async fn dev() -> Service {
    let mut service = Service::start(&["--dev"], &[("CCM_DEV_KEY", &key())]);
    service.ready().await;
    service
}

fn run(name: &str, service: &Service) -> Finished {
    let mut command = Command::new(example(name));
    command
        .env("CCM_URL", service.url())
        .env("CCM_DEV_KEY", key());
    command.output().expect("the example can be started").into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_telegram_bot_remembers_though_its_process_is_new_each_time() {
    let service = dev().await;
    let told = run("telegram", &service).succeeded().stdout;
    assert!(
        told.contains("before this you said: And the one after?"),
        "{told}"
    );
    assert!(
        told.contains("-100 bot: Hello! You said: Lunch, anyone?"),
        "{told}"
    );
    // And when the program runs again.
    let again = run("telegram", &service).succeeded().stdout;
    assert!(again.contains("before this you said: Thanks!"), "{again}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slack_message_that_is_delivered_again_is_one_turn() {
    let service = dev().await;
    let told = run("slack", &service).succeeded().stdout;
    assert!(
        told.contains("Ev4: Is the deploy done? → 2 turns"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orchestrator_knows_what_was_said_on_the_phone() {
    let service = dev().await;
    let told = run("orchestrator", &service).succeeded().stdout;
    assert!(told.contains("Book the 9:02 to Bern."), "{told}");
}
