//! `throughline import`: turns from a file into a running service, whatever its store.
//!
//! Memory stays bounded by one batch; a second run stores nothing twice, because every line carries its
//! own key; one bad line costs only itself.

mod backoff;
mod lines;
mod progress;
mod send;
mod tally;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;
use throughline_domain::{SystemIds, TenantId};
use tokio::io::{AsyncRead, BufReader};

use self::lines::{Checked, Lines};
use self::progress::Progress;
use self::send::Sender;
use self::tally::Tally;
use crate::api_client::ApiClient;
use crate::failure::Failure;
use crate::output::{note, say};
use crate::server::Signals;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// File with one append body a line, or - for standard input
    file: PathBuf,
    /// The service
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// The tenant that the turns belong to
    #[arg(long)]
    tenant: String,
    /// A key with turns:write, and identity:resolve for lines that carry a ref
    #[arg(long, env = "CCM_KEY", hide_env_values = true, value_name = "KEY")]
    key: SecretString,
    /// Write refused lines there, as JSON lines of line, code and detail
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Turns in one request
    #[arg(long, value_name = "TURNS", default_value_t = 200,
          value_parser = clap::value_parser!(u16).range(1..=500))]
    batch: u16,
}

/// A batch's bytes, so that it fits into the default body limit of 4 MiB.
const BATCH_BYTES: usize = 4 * 1024 * 1024 - 64 * 1024;

/// Imports the file; ends with the summary on standard output, whatever happened.
pub(crate) async fn run(args: &Args) -> Result<(), Failure> {
    let tenant = TenantId::parse(&args.tenant)
        .map_err(|error| Failure::usage("invalid_tenant", error.to_string()))?;
    let client = ApiClient::new(&args.url, &args.key)?;
    let (input, size) = open(&args.file).await?;
    not_over_the_input(args)?;
    let mut tally = Tally::new(args.rejects.as_deref())?;
    let progress = Progress::start(size);
    let mut signals = Signals::listen()?;
    let sender = Sender::new(client, &tenant, Arc::new(SystemIds), &progress);
    let import = feed(
        Lines::new(BufReader::new(input)),
        usize::from(args.batch),
        &sender,
        &mut tally,
        &progress,
    );
    let ended = tokio::select! {
        ended = import => ended,
        signal = signals.name() => Err(Failure::failed(
            "interrupted",
            format!("stopped by {signal}; run the same command again, nothing is stored twice"),
        )),
    };
    progress.finish();
    tally.close()?;
    say(tally.summary())?;
    ended?;
    match tally.rejected() {
        0 => Ok(()),
        some if args.rejects.is_none() => Err(Failure::failed(
            "lines_rejected",
            format!("{some} lines were refused; give --rejects FILE to get each with its reason"),
        )),
        some => Err(Failure::failed(
            "lines_rejected",
            format!("{some} lines were refused"),
        )),
    }
}

/// The file of refusals is made anew: it must not be the one that is being read.
fn not_over_the_input(args: &Args) -> Result<(), Failure> {
    let same = |rejects: &PathBuf| {
        let input = args.file.canonicalize().ok();
        input.is_some() && rejects.canonicalize().ok() == input
    };
    if args.rejects.as_ref().is_some_and(same) {
        let text = "--rejects names the file that is read; give it another name";
        return Err(Failure::usage("rejects_over_input", text));
    }
    Ok(())
}

type Input = Box<dyn AsyncRead + Send + Unpin>;

async fn open(path: &Path) -> Result<(Input, Option<u64>), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(tokio::io::stdin()), None));
    }
    let unreadable = |error: std::io::Error| {
        Failure::failed(
            "unreadable_file",
            format!("{} cannot be read: {error}", path.display()),
        )
    };
    let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
    let size = file.metadata().await.map_err(unreadable)?.len();
    Ok((Box::new(file), Some(size)))
}

async fn feed(
    mut lines: Lines<BufReader<Input>>,
    batch_turns: usize,
    sender: &Sender<'_>,
    tally: &mut Tally,
    progress: &Progress,
) -> Result<(), Failure> {
    let mut batch: Vec<Checked> = Vec::new();
    let mut bytes = 0;
    loop {
        let line = lines.next().await.map_err(|error| {
            Failure::caused(
                "unreadable_file",
                "the file could not be read to its end",
                &error,
            )
        })?;
        let full = batch.len() == batch_turns
            || matches!(&line, Some(Ok(next)) if bytes + next.text.len() > BATCH_BYTES);
        if (full || line.is_none()) && !batch.is_empty() {
            sender.send(std::mem::take(&mut batch), tally).await?;
            progress.at(lines.bytes_read(), tally);
            bytes = 0;
        }
        match line {
            None => return Ok(()),
            Some(Ok(checked)) => {
                bytes += checked.text.len() + 1;
                batch.push(checked);
            }
            Some(Err(bad)) => tally.reject(bad.number, bad.fault.code(), &bad.fault.to_string()),
        }
        if let Some(fault) = tally.write_fault() {
            note(format_args!("throughline: {fault}"));
            return Err(fault);
        }
    }
}
