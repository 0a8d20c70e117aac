//! Precedence, secrets, and what the errors say.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use secrecy::ExposeSecret;

use super::{Environment, Flags, Loaded, TABLE};
use crate::failure::Failure;

fn flags(config: Option<PathBuf>, pairs: &[(&'static str, &str)]) -> Flags {
    let values: BTreeMap<_, _> = pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
    Flags { config, values }
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn refusal(flags: &Flags, env: &[(&str, &str)]) -> Failure {
    match Loaded::load(flags, &Environment::of(env)) {
        Ok(_) => panic!("these settings are accepted"),
        Err(failure) => failure,
    }
}

fn pool_size(flags: &Flags, env: &[(&str, &str)]) -> u32 {
    let loaded = Loaded::load(flags, &Environment::of(env)).unwrap_or_else(|f| panic!("{f}"));
    loaded.settings.pool_size.0
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let file = file("pool_size = 2\n");
    let config = Some(file.path().to_owned());
    let env = [("CCM_POOL_SIZE", "3")];
    assert_eq!(pool_size(&flags(None, &[]), &[]), 16);
    assert_eq!(pool_size(&flags(config.clone(), &[]), &[]), 2);
    assert_eq!(pool_size(&flags(config.clone(), &[]), &env), 3);
    assert_eq!(pool_size(&flags(config, &[("pool_size", "4")]), &env), 4);
    let by_env = [("CCM_CONFIG", file.path().to_str().unwrap())];
    assert_eq!(pool_size(&flags(None, &[]), &by_env), 2);
}

#[test]
fn a_blank_variable_counts_as_not_set() {
    assert_eq!(pool_size(&flags(None, &[]), &[("CCM_POOL_SIZE", " ")]), 16);
}

#[test]
fn an_error_names_the_setting_its_source_and_what_is_accepted() {
    let failure = refusal(&flags(None, &[]), &[("CCM_MIGRATE", "maybe")]);
    assert_eq!(
        failure.to_string(),
        "invalid_setting: migrate = \"maybe\" (CCM_MIGRATE): give true, 1, yes or on, or false, 0, no or off"
    );
    let file = file("\n\npool_size = 0\n");
    let failure = refusal(&flags(Some(file.path().to_owned()), &[]), &[]);
    let place = format!("({}:3)", file.path().display());
    assert!(failure.to_string().contains(&place), "{failure}");
}

#[test]
fn a_secret_comes_from_the_file_that_its_variable_names_without_the_line_end() {
    let secret = ["post", "gres://u:p@h/d"].concat();
    let file = file(&format!("{secret}\n"));
    let path = file.path().to_str().unwrap();
    let env = Environment::of(&[("CCM_DATABASE_URL_FILE", path)]);
    let loaded = Loaded::load(&Flags::default(), &env).ok().unwrap();
    assert_eq!(
        loaded.settings.database_url.unwrap().expose_secret(),
        secret
    );
    let both = [("CCM_DATABASE_URL_FILE", path), ("CCM_DATABASE_URL", "x")];
    assert_eq!(
        refusal(&Flags::default(), &both).code(),
        "ambiguous_setting"
    );
    let missing = [("CCM_METRICS_TOKEN_FILE", "no/such/file")];
    assert_eq!(
        refusal(&Flags::default(), &missing).code(),
        "unreadable_secret"
    );
}

// T-35
#[test]
fn both_capabilities_share_one_database_address() {
    let either = Environment::of(&[("PI_DATABASE_URL", "one")]);
    let loaded = Loaded::load(&Flags::default(), &either).ok().unwrap();
    assert_eq!(loaded.settings.database_url.unwrap().expose_secret(), "one");
    let differing = [("PI_DATABASE_URL", "one"), ("CCM_DATABASE_URL", "two")];
    assert_eq!(
        refusal(&Flags::default(), &differing).code(),
        "ambiguous_setting"
    );
}

// failures.md 33
#[test]
fn no_secret_is_ever_printed() {
    let secret = ["hun", "ter2-hun", "ter2"].concat();
    let secrets: Vec<_> = TABLE.iter().filter(|setting| setting.secret).collect();
    assert_eq!(secrets.len(), 5);
    let names: Vec<String> = secrets.iter().map(|setting| setting.env()).collect();
    let pairs: Vec<_> = names
        .iter()
        .map(|n| (n.as_str(), secret.as_str()))
        .collect();
    let loaded = Loaded::load(&Flags::default(), &Environment::of(&pairs))
        .ok()
        .unwrap();
    let printed = loaded.printed();
    assert!(!printed.contains(&secret), "{printed}");
    for setting in secrets {
        let masked = format!("{} = \"***\"  # {}", setting.key, setting.env());
        assert!(printed.contains(&masked), "{printed}");
    }
    assert!(!format!("{:?}", loaded.settings.dev_key).contains(&secret));
}

#[test]
fn a_mistyped_variable_is_told_and_not_refused() {
    let env = Environment::of(&[
        ("CCM_LISTNE", "x"),
        ("CCM_LISTEN_FILE", "x"),
        ("CCM_TEST_PG_BIN", "x"),
        ("CCM_KEY", "x"),
        ("CCM_DEV_KEY_FILE", " "),
    ]);
    let loaded = Loaded::load(&Flags::default(), &env).ok().unwrap();
    assert_eq!(loaded.unknown_env, ["CCM_LISTEN_FILE", "CCM_LISTNE"]);
}

#[test]
fn every_default_is_accepted_by_its_own_setting() {
    let loaded = Loaded::load(&Flags::default(), &Environment::default());
    let shown = loaded.unwrap_or_else(|f| panic!("{f}")).settings.shown();
    for (key, value) in shown {
        let default = super::find(key).unwrap().default.map(str::to_owned);
        assert_eq!(value, default, "{key} shows its default as it is declared");
    }
}
