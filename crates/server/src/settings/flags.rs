//! The settings as flags, made from the table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::{Section, Setting, TABLE};

/// The settings given as flags, not parsed yet, and where the file is. It may hold secrets, so it has
/// no `Debug`.
#[derive(Clone, Default)]
pub(crate) struct Flags {
    /// The file.
    pub(crate) config: Option<PathBuf>,
    /// By key.
    pub(crate) values: BTreeMap<&'static str, String>,
}

/// A flag for every setting.
#[derive(Clone, Default)]
pub(crate) struct AllFlags(pub(crate) Flags);

/// Only the flags that say where the data is, for commands that work on the database; the rest may
/// stand in the same file or environment and is not used.
#[derive(Clone, Default)]
pub(crate) struct DatabaseFlags(pub(crate) Flags);

const CONFIG: &str = "config";

fn arg(setting: &'static Setting) -> Arg {
    let arg = Arg::new(setting.key)
        .long(setting.flag())
        .value_name(setting.unit)
        .help(help(setting))
        .help_heading(setting.section.heading());
    if setting.switch {
        return arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true");
    }
    arg
}

fn help(setting: &Setting) -> String {
    let file = if setting.secret {
        format!(" or {}_FILE", setting.env())
    } else {
        String::new()
    };
    let default = setting.default.unwrap_or("not set");
    format!(
        "{} [env: {}{file}] [default: {default}]",
        setting.help(),
        setting.env()
    )
}

fn augment(command: Command, wanted: fn(&Setting) -> bool, global: bool) -> Command {
    let config = Arg::new(CONFIG)
        .long(CONFIG)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .global(global)
        .help("TOML file with settings; a flag or a variable wins over it [env: CCM_CONFIG]");
    TABLE
        .iter()
        .filter(|setting| wanted(setting))
        .fold(command.arg(config), |command, setting| {
            command.arg(arg(setting).global(global))
        })
}

fn collect(matches: &ArgMatches) -> Flags {
    let value = |setting: &'static Setting| {
        let given = matches.try_get_one::<String>(setting.key).ok().flatten()?;
        Some((setting.key, given.clone()))
    };
    Flags {
        config: matches.get_one::<PathBuf>(CONFIG).cloned(),
        values: TABLE.iter().filter_map(value).collect(),
    }
}

fn every(_: &Setting) -> bool {
    true
}

fn database(setting: &Setting) -> bool {
    setting.section == Section::Database && !setting.switch
}

macro_rules! args {
    ($name:ident, $wanted:path, $global:literal) => {
        impl FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Ok(Self(collect(matches)))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                self.0 = collect(matches);
                Ok(())
            }
        }

        impl Args for $name {
            fn augment_args(command: Command) -> Command {
                augment(command, $wanted, $global)
            }

            fn augment_args_for_update(command: Command) -> Command {
                augment(command, $wanted, $global)
            }
        }
    };
}

args!(AllFlags, every, false);
// After the subcommand as well as before it: `admin tenant list --database-url …`.
args!(DatabaseFlags, database, true);
