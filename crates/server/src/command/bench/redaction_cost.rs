//! `throughline bench redaction-cost`: the same appends with scanning off and on, in one run, by the CPU
//! time of this process.
//!
//! "Off" is the mode `deferred`, which stores turns as they come. Rounds of both take turns, so that
//! what else the machine does meets both; the fastest round of each counts.

mod dialogues;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_conversation_memory::{ConversationMemory, NewTurn};
use throughline_domain::{Ids as _, SystemClock, SystemIds, TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_redacted_memory::RedactedMemory;
use throughline_tenancy::{RedactionMode, Tenancy, TenantConfig};

use self::dialogues::{Said, dense, read};
use crate::failure::{Failure, chain};
use crate::output::say;
use crate::service;
use crate::settings::{DatabaseFlags, Environment, Loaded};
use crate::store;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: DatabaseFlags,
    /// One object with user_message and assistant_answer a line, or - for standard input
    file: PathBuf,
    /// Measure the Postgres of --database-url too; it gets two tenants of random names
    #[arg(long)]
    postgres: bool,
    /// How often everything is appended in each mode
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
}

/// Prints a line for each store and kind of turn.
pub(crate) async fn run(args: Args, environment: &Environment) -> Result<(), Failure> {
    let real = read(super::super::redact::open(&args.file)?)?;
    let dense = dense(real.len());
    let memory = service::in_memory();
    let kinds = [("real dialogues", &real), ("dense turns", &dense)];
    for (kind, said) in kinds {
        say(measured("in memory", kind, &memory, said, args.rounds).await?)?;
    }
    if args.postgres {
        let loaded = Loaded::load(&args.flags.0, environment)?;
        let database = store::connect(store::config(&loaded.settings)?, &Registry::new())?;
        store::check(&database).await?;
        for (kind, said) in kinds {
            say(measured("postgres", kind, &database, said, args.rounds).await?)?;
        }
        database.close().await;
    }
    Ok(())
}

/// Appends in both modes in turn and says what the scan adds.
async fn measured<S>(
    place: &str,
    kind: &str,
    store: &Arc<S>,
    said: &[Said],
    rounds: u32,
) -> Result<String, Failure>
where
    S: Tenancy + PlatformIdentity + ConversationMemory + 'static,
{
    let off = Side::new(store, RedactionMode::Deferred).await?;
    let on = Side::new(store, RedactionMode::Inline).await?;
    let mut best = [Duration::MAX; 2];
    for round in 0..=rounds {
        for (side, best) in [&off, &on].into_iter().zip(&mut best) {
            let took = side.append_all(said, round).await?;
            // The first round warms up.
            if round > 0 {
                *best = took.min(*best);
            }
        }
    }
    let turns = said.len();
    let bytes: usize = said.iter().map(Said::bytes).sum();
    let [off, on] = best.map(|took| took.as_secs_f64() * 1e6 / f64::from(count(turns)));
    Ok(format!(
        "{place}, {kind}: {off:.1} µs CPU a turn without scanning, {on:.1} µs with it: {:+.1} % \
         ({turns} turns of {} bytes on average)",
        (on / off - 1.0) * 100.0,
        bytes / turns
    ))
}

fn count(turns: usize) -> u32 {
    u32::try_from(turns).unwrap_or(u32::MAX)
}

/// A tenant in one of the modes, with one person.
struct Side {
    memory: RedactedMemory,
    tenant: TenantId,
    user: UserId,
}

impl Side {
    async fn new<S>(store: &Arc<S>, redaction_mode: RedactionMode) -> Result<Self, Failure>
    where
        S: Tenancy + PlatformIdentity + ConversationMemory + 'static,
    {
        let secret = SystemIds.secret();
        let name = format!("bench-{:016x}", u128::from_be_bytes(half(secret)) >> 64);
        let tenant = TenantId::parse(&name).map_err(|error| unusable(&error))?;
        let config = TenantConfig {
            redaction_mode,
            ..TenantConfig::default()
        };
        let made = store.create_tenant(&tenant, config).await;
        made.map_err(|error| unusable(&error))?;
        let who = ChannelUser::new(PlatformKind::Custom, "bench");
        let who = who.map_err(|error| unusable(&error))?;
        let user = store.resolve(&tenant, &who).await;
        let scanner = service::scanner(&Registry::new())?;
        Ok(Self {
            memory: RedactedMemory::new(store.clone(), store.clone(), scanner, secret),
            user: user.map_err(|error| unusable(&error))?.user_id,
            tenant,
        })
    }

    /// Appends one turn after another, as requests do; the turns are made before the clock runs.
    async fn append_all(&self, said: &[Said], round: u32) -> Result<Duration, Failure> {
        let turns: Result<Vec<NewTurn>, Failure> = said
            .iter()
            .enumerate()
            .map(|(n, said)| said.turn(self.user, &format!("{round}:{n}")))
            .collect();
        let turns = turns?;
        let begun = cpu_time();
        for turn in turns {
            let stored = self.memory.append(&self.tenant, turn).await;
            stored.map_err(|error| Failure::failed("bench_failed", chain(&error)))?;
        }
        Ok(cpu_time().saturating_sub(begun))
    }
}

fn half(secret: [u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&secret[..16]);
    half
}

fn unusable(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::caused("bench_failed", "the store cannot be measured", error)
}

/// What every thread of this process has used, in user and in kernel mode.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let whole = Duration::from_secs(time.tv_sec.unsigned_abs());
    whole + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_modes_are_measured_over_the_same_turns() {
        let line = measured(
            "in memory",
            "dense turns",
            &service::in_memory(),
            &dense(3),
            1,
        )
        .await;
        let line = line.unwrap();
        assert!(line.starts_with("in memory, dense turns: "), "{line}");
        assert!(line.contains(" (3 turns of "), "{line}");
    }
}
