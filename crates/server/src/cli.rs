//! The command line: which command, and how a mistake in it is told.

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::command::{admin, bench, demo, import, job, migrate, redact, serve, version};
use crate::failure::Failure;
use crate::output::say;
use crate::settings::Environment;

const AFTER: &str =
    "Exit status: 0 done, 1 the work failed, 2 the command line or the configuration is wrong.
Settings come from a flag, else a CCM_* variable, else the --config file, else the default.";

/// One person's conversation, carried across channels.
#[derive(Parser)]
#[command(name = "throughline", version, after_help = AFTER, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service
    Serve(serve::Args),
    /// Bring the database's schema up to date
    Migrate(migrate::Args),
    /// Show what it does: a small story played over HTTP, in memory
    Demo(demo::Args),
    /// Append turns from a file over HTTP, one append body a line
    Import(import::Args),
    /// Manage tenants and keys, straight in the database
    Admin(admin::Args),
    /// Do one run of a job, straight in the database
    Job(job::Args),
    /// Find personal data and secrets in lines of text
    Redact(redact::Args),
    /// Measure, beside the database's own benchmark where there is one
    Bench(bench::Args),
    /// Print version and build
    Version(version::Args),
}

/// Reads the command line and runs the command to its end.
pub(crate) fn run() -> Result<(), Failure> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let environment = Environment::of_process()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::caused("no_runtime", "no threads could be started", &error))?;
    let outcome = runtime.block_on(async {
        match cli.command {
            Command::Serve(args) => serve::run(&args, &environment).await,
            Command::Migrate(args) => migrate::run(&args, &environment).await,
            Command::Demo(args) => demo::run(&args).await,
            Command::Import(args) => import::run(&args).await,
            Command::Admin(args) => admin::run(args, &environment).await,
            Command::Job(args) => job::run(args, &environment).await,
            Command::Redact(args) => redact::run(&args),
            Command::Bench(args) => bench::run(args, &environment).await,
            Command::Version(args) => version::run(&args),
        }
    });
    // A thread that still waits for standard input must not keep the process alive.
    runtime.shutdown_background();
    outcome
}

fn explain(error: &clap::Error) -> Result<(), Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            say(error.render().to_string().trim_end())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::usage(
            "no_command",
            "say what to do, such as demo or serve --dev; throughline --help lists the commands",
        )),
        _ => Err(Failure::usage("wrong_usage", sentence(error))),
    }
}

/// clap's first paragraph in one line, without its label. It names flags and never a value of ours:
/// the settings' values are read later.
fn sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = ["\n\nUsage", "\n\nFor more information"]
        .into_iter()
        .filter_map(|next| text.find(next))
        .min();
    let first = &text[..end.unwrap_or(text.len())];
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{line}; see --help")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::settings::TABLE;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_serve_explains_every_setting_with_its_default() {
        let mut cli = Cli::command();
        let serve = cli.find_subcommand_mut("serve").unwrap().clone();
        let help = serve.term_width(0).render_long_help().to_string();
        for setting in TABLE {
            assert!(
                help.contains(&format!("--{}", setting.flag())),
                "{}",
                setting.key
            );
            assert!(help.contains(&setting.help()), "{}", setting.key);
            assert!(help.contains(&setting.env()), "{}", setting.key);
            let default = format!("[default: {}]", setting.default.unwrap_or("not set"));
            assert!(help.contains(&default), "{}", setting.key);
        }
    }

    #[test]
    fn every_mistake_points_to_the_help_once() {
        for arguments in [
            &["serve", "--nonsense"][..],
            &["nonsense"],
            &["import"],
            &["admin", "tenant", "configure", "a", "--revision", "x"],
            &["serve", "--config"],
        ] {
            let arguments = ["throughline"].iter().chain(arguments);
            let error = Cli::try_parse_from(arguments).err().unwrap();
            let failure = explain(&error).unwrap_err().to_string();
            assert_eq!(failure.matches("--help").count(), 1, "{failure}");
        }
    }

    #[test]
    fn where_the_data_is_may_be_said_after_the_subcommand_too() {
        let url = "postgres://h/d";
        for arguments in [
            &["admin", "--database-url", url, "tenant", "list"][..],
            &["admin", "tenant", "--database-url", url, "list"],
            &["admin", "tenant", "list", "--database-url", url],
        ] {
            let arguments = ["throughline"].iter().chain(arguments);
            let cli = Cli::try_parse_from(arguments).expect("a command line");
            let Command::Admin(args) = cli.command else {
                panic!("another command");
            };
            assert_eq!(args.flags.0.values["database_url"], url);
        }
    }

    #[test]
    fn a_wrong_flag_is_one_line_and_shows_no_value() {
        let secret = ["hun", "ter2"].concat();
        let flag = format!("--databse-url={secret}");
        let error = Cli::try_parse_from(["throughline", "serve", &flag])
            .err()
            .unwrap();
        let failure = explain(&error).unwrap_err();
        assert!(
            failure.to_string().starts_with("wrong_usage: "),
            "{failure}"
        );
        assert!(!failure.to_string().contains(&secret), "{failure}");
    }
}
