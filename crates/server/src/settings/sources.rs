//! Which source a value comes from: flag, environment, file, default, in this order.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::value::Value;
use super::{Flags, Setting, Settings, TABLE, file, find};
use crate::failure::Failure;

/// The environment variables of the service, as they were when the process started.
#[derive(Clone, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

/// Variables with our prefix that are no settings: the file, an import's key, and the test harness.
const NOT_SETTINGS: [&str; 2] = ["CCM_CONFIG", "CCM_KEY"];

impl Environment {
    /// Takes the process's variables that start with `CCM_` or `PI_`. A blank one counts as not set:
    /// that is what an unset variable becomes in a compose file.
    pub(crate) fn of_process() -> Result<Self, Failure> {
        let mut taken = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str().filter(|name| is_ours(name)) else {
                continue;
            };
            let Some(value) = value.to_str() else {
                let text = format!("environment variable {name} is not UTF-8; set it again");
                return Err(Failure::usage("invalid_setting", text));
            };
            taken.insert(name.to_owned(), value.to_owned());
        }
        Ok(Self(taken))
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Self(pairs.iter().map(owned).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?;
        (!value.trim().is_empty()).then_some(value)
    }

    /// Names that look like settings and are none; most often a typing error.
    fn unknown(&self) -> Vec<String> {
        let known = |name: &str| {
            let base = name.strip_suffix("_FILE").unwrap_or(name);
            NOT_SETTINGS.contains(&name)
                || name.starts_with("CCM_TEST_")
                || TABLE
                    .iter()
                    .any(|s| s.env() == name || (s.secret && s.env() == base))
        };
        let names = self.0.keys().filter(|name| name.starts_with("CCM_"));
        names.filter(|name| !known(name)).cloned().collect()
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("CCM_") || name.starts_with("PI_")
}

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A flag.
    Flag,
    /// An environment variable, by name.
    Environment(String),
    /// The configuration file.
    File {
        /// Which.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Nowhere: the table's own value.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment(name) => f.write_str(name),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value as text. It may be a secret, so it has no `Debug`.
pub(crate) struct Raw {
    pub(super) text: String,
    pub(super) origin: Origin,
}

/// What the sources gave, by key.
pub(crate) struct Given(BTreeMap<&'static str, Raw>);

impl Given {
    /// The value of a key, parsed. The error names the setting and its source, and repeats the text
    /// unless it is a secret.
    pub(super) fn read<T: Value>(&self, key: &'static str) -> Result<T, Failure> {
        let Some(raw) = self.0.get(key) else {
            return T::absent().ok_or_else(|| {
                Failure::usage("missing_setting", format!("{key} has no value; give one"))
            });
        };
        T::read(&raw.text).map_err(|wanted| {
            let text = if T::SECRET { "***" } else { &raw.text };
            let place = &raw.origin;
            Failure::usage(
                "invalid_setting",
                format!("{key} = {text:?} ({place}): {wanted}"),
            )
        })
    }

    /// Where the value of a key comes from.
    pub(crate) fn origin(&self, key: &str) -> &Origin {
        self.0.get(key).map_or(&Origin::Default, |raw| &raw.origin)
    }
}

/// The settings with what is worth telling about their sources.
pub(crate) struct Loaded {
    /// The values.
    pub(crate) settings: Settings,
    /// Where each came from.
    pub(crate) given: Given,
    /// Environment variables that look like settings and are none.
    pub(crate) unknown_env: Vec<String>,
}

impl Loaded {
    /// Gathers and parses every setting.
    pub(crate) fn load(flags: &Flags, environment: &Environment) -> Result<Self, Failure> {
        let given = gather(flags, environment)?;
        Ok(Self {
            settings: Settings::parse(&given)?,
            given,
            unknown_env: environment.unknown(),
        })
    }

    /// The settings as a configuration file with secrets masked and each value's source.
    pub(crate) fn printed(&self) -> String {
        let mut text = String::new();
        for (key, value) in self.settings.shown() {
            let line = match value {
                Some(value) => format!("{key} = {value:?}  # {}\n", self.given.origin(key)),
                None => format!("# {key} is not set\n"),
            };
            text.push_str(&line);
        }
        text
    }
}

fn gather(flags: &Flags, environment: &Environment) -> Result<Given, Failure> {
    let path = flags.config.clone();
    let path = path.or_else(|| environment.get("CCM_CONFIG").map(PathBuf::from));
    let mut given = match &path {
        Some(path) => file::read(path)?,
        None => BTreeMap::new(),
    };
    for setting in TABLE {
        if let Some(raw) = from_environment(setting, environment)? {
            given.insert(setting.key, raw);
        }
        if let Some(default) = setting.default {
            given.entry(setting.key).or_insert_with(|| Raw {
                text: default.to_owned(),
                origin: Origin::Default,
            });
        }
    }
    for (key, text) in &flags.values {
        let setting = find(key).expect("flags are made from the table");
        let (text, origin) = (text.clone(), Origin::Flag);
        given.insert(setting.key, Raw { text, origin });
    }
    Ok(Given(given))
}

fn from_environment(setting: &Setting, environment: &Environment) -> Result<Option<Raw>, Failure> {
    let name = setting.env();
    let direct = environment.get(&name).map(|text| Raw {
        text: text.to_owned(),
        origin: Origin::Environment(name.clone()),
    });
    let direct = match (direct, setting.key) {
        (direct, "database_url") => shared_address(direct, environment)?,
        (direct, _) => direct,
    };
    let file_name = format!("{name}_FILE");
    let path = environment.get(&file_name).filter(|_| setting.secret);
    match (direct, path) {
        (Some(_), Some(_)) => {
            let text = format!("{name} and {file_name} are both set; unset one of them");
            Err(Failure::usage("ambiguous_setting", text))
        }
        (None, Some(path)) => secret_file(&file_name, Path::new(path)).map(Some),
        (direct, None) => Ok(direct),
    }
}

/// Both capabilities keep their data in one database, so that one transaction reaches both (T-35): its
/// address may be given under either capability's name, but not as two addresses.
fn shared_address(ccm: Option<Raw>, environment: &Environment) -> Result<Option<Raw>, Failure> {
    let pi = "PI_DATABASE_URL";
    match (ccm, environment.get(pi)) {
        (Some(ccm), Some(other)) if ccm.text != other => Err(Failure::usage(
            "ambiguous_setting",
            format!(
                "CCM_DATABASE_URL and {pi} differ; one database serves both, unset one of them"
            ),
        )),
        (None, Some(text)) => Ok(Some(Raw {
            text: text.to_owned(),
            origin: Origin::Environment(pi.to_owned()),
        })),
        (ccm, _) => Ok(ccm),
    }
}

/// A secret from a file, as orchestrators mount them; the line end an editor adds is not part of it.
fn secret_file(name: &str, path: &Path) -> Result<Raw, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let text = format!("{} named by {name} cannot be read: {error}", path.display());
        Failure::usage("unreadable_secret", text)
    })?;
    Ok(Raw {
        text: text.trim_end_matches(['\n', '\r']).to_owned(),
        origin: Origin::Environment(name.to_owned()),
    })
}
