//! What scanning adds to an append: the same turns with scanning off and on, in one run, by the CPU time
//! of this process.
//!
//! "Off" is the mode `deferred`, which stores turns as they come. The two sides take turns every hundred
//! turns, so that what else the machine does meets both, and of each hundred the fastest round counts.

mod said;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use throughline_conversation_memory::{ConversationMemory, NewTurn};
use throughline_domain::{Clock, Ids, TenantId, UserId};
use throughline_platform_identity::{ChannelUser, PlatformIdentity, PlatformKind};
use throughline_tenancy::{RedactionMode, Tenancy, TenantConfig};

pub use said::{Said, dense, read};

use crate::{RedactedMemory, Scanner};

/// Why nothing was measured.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// What an append takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Turns a round.
    pub turns: usize,
    /// Their bytes.
    pub bytes: usize,
    /// CPU time without scanning, each part's in its fastest round.
    pub off: Duration,
    /// And with it.
    pub on: Duration,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = f64::from(u32::try_from(self.turns).unwrap_or(u32::MAX));
        let [off, on] = [self.off, self.on].map(|took| took.as_secs_f64() * 1e6 / turns);
        write!(
            f,
            "{off:.1} µs CPU a turn without scanning, {on:.1} µs with it: {:+.1} % ({} turns of {} \
             bytes on average)",
            (on / off - 1.0) * 100.0,
            self.turns,
            self.bytes / self.turns.max(1)
        )
    }
}

/// Appends everything in both modes in turn, one turn after another, `rounds` times and once before to
/// warm up. Makes two tenants of random names in the store.
pub async fn measure<S>(
    store: &Arc<S>,
    (clock, ids): (Arc<dyn Clock>, &dyn Ids),
    said: &[Said],
    rounds: u32,
) -> Result<Cost, Fault>
where
    S: Tenancy + PlatformIdentity + ConversationMemory + 'static,
{
    let off = Side::new(store, clock.clone(), ids, RedactionMode::Deferred).await?;
    let on = Side::new(store, clock, ids, RedactionMode::Inline).await?;
    let mut fastest = vec![[Duration::MAX; 2]; said.len().div_ceil(PART)];
    for round in 0..=rounds {
        for (part, (said, fastest)) in said.chunks(PART).zip(&mut fastest).enumerate() {
            for (side, fastest) in [&off, &on].into_iter().zip(fastest) {
                let took = side.append_all(said, (round, part)).await?;
                if round > 0 {
                    *fastest = took.min(*fastest);
                }
            }
        }
    }
    Ok(Cost {
        turns: said.len(),
        bytes: said.iter().map(Said::bytes).sum(),
        off: fastest.iter().map(|[off, _]| *off).sum(),
        on: fastest.iter().map(|[_, on]| *on).sum(),
    })
}

/// Turns after which the other side has its turn.
const PART: usize = 100;

/// A tenant in one of the modes, with one person.
struct Side {
    memory: RedactedMemory,
    tenant: TenantId,
    user: UserId,
}

impl Side {
    async fn new<S>(
        store: &Arc<S>,
        clock: Arc<dyn Clock>,
        ids: &dyn Ids,
        redaction_mode: RedactionMode,
    ) -> Result<Self, Fault>
    where
        S: Tenancy + PlatformIdentity + ConversationMemory + 'static,
    {
        let name = ids.ulid(clock.now()).to_string().to_lowercase();
        let tenant = TenantId::parse(&format!("bench-{name}"))?;
        let config = TenantConfig {
            redaction_mode,
            // Below the cap all the way: what is pushed out costs more than what is scanned.
            turn_cap: 10_000_000,
            ..TenantConfig::default()
        };
        store.create_tenant(&tenant, config).await?;
        let who = ChannelUser::new(PlatformKind::Custom, "bench")?;
        let user = store.resolve(&tenant, &who).await?.user_id;
        let scanner = Scanner::built_in(clock, &Registry::new())?;
        Ok(Self {
            memory: RedactedMemory::new(store.clone(), store.clone(), scanner, ids.secret()),
            tenant,
            user,
        })
    }

    /// The turns are made before the clock runs, as a handler makes them before it appends.
    async fn append_all(
        &self,
        said: &[Said],
        (round, part): (u32, usize),
    ) -> Result<Duration, Fault> {
        let turns = said
            .iter()
            .enumerate()
            .map(|(n, said)| said.turn(self.user, &format!("{round}:{part}:{n}")));
        let turns = turns.collect::<Result<Vec<NewTurn>, Fault>>()?;
        let begun = cpu_time();
        for turn in turns {
            self.memory.append(&self.tenant, turn).await?;
        }
        Ok(cpu_time().saturating_sub(begun))
    }
}

/// What every thread of this process has used, in user and in kernel mode.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}
