//! The faults, and how each is brought about and taken back.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use rand::Rng as _;
use rand::rngs::StdRng;
use throughline_tests::Fault as Line;
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::round::Pace;
use crate::stage::{REPLICAS, Stage};

macro_rules! faults {
    ($($variant:ident $word:literal $what:literal)+) => {
        /// What is done to the running system in a round.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $(#[doc = $what] $variant,)+
        }

        impl Fault {
            /// All of them, those that happen most first.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its word on the command line and in the table.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// What is done.
            pub fn what(self) -> &'static str {
                match self { $(Self::$variant => $what,)+ }
            }
        }
    };
}

faults! {
    ServerKilled "server-killed" "kill -9 of one server, now and then of both"
    PostgresKilled "postgres-killed" "kill -9 of every process of Postgres, and a restart"
    BackendsEnded "backends-ended" "all database connections terminated, three times"
    PostgresPaused "postgres-paused" "SIGSTOP of Postgres, and SIGCONT"
    LineReset "line-reset" "every connection to Postgres reset, new ones too"
    LineStalled "line-stalled" "nothing moves between server and Postgres"
    LineHalfOpen "line-half-open" "what goes to Postgres vanishes, no answer comes"
    CommitAnswerLost "commit-answer-lost" "statements reach Postgres, answers are cut, that of COMMIT among them"
    CallersLine "callers-line" "answers of the servers are cut, connections reset"
    Terminated "terminated" "SIGTERM of one server under load, and a restart"
    Pooler "pooler" "pgbouncer in transaction mode between, all its connections terminated"
    Migration "migration" "both servers start on an empty database, one is killed while it migrates"
    PoolExhausted "pool-exhausted" "a pool of two, and the tables locked"
    DiskFullSpool "disk-full-spool" "no room for the spool while Postgres is down"
    DiskFullPostgres "disk-full-postgres" "no room for Postgres, data and log"
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|fault| fault.word() == word);
        found.copied().ok_or_else(|| {
            let words: Vec<_> = Self::ALL.iter().map(|fault| fault.word()).collect();
            format!("there is no fault {word}; take one of {}", words.join(", "))
        })
    }
}

impl Fault {
    /// Whether it needs a proxy before Postgres.
    pub(crate) fn breaks_the_line(self) -> bool {
        matches!(
            self,
            Self::LineReset | Self::LineStalled | Self::LineHalfOpen | Self::CommitAnswerLost
        )
    }

    /// The share of appends that ask to be queued, in a hundred.
    pub(crate) fn queued(self) -> u32 {
        if self == Self::DiskFullSpool { 90 } else { 25 }
    }

    /// What has to be done before the load: how long it took until both servers were ready.
    pub(crate) async fn prepare(
        self,
        stage: &Stage,
        rng: &mut StdRng,
        name: &str,
    ) -> Result<Option<Duration>, String> {
        if self != Self::Migration {
            return Ok(None);
        }
        for replica in 0..REPLICAS {
            stage.kill_service(replica);
        }
        stage.use_database(name)?;
        for replica in 0..REPLICAS {
            stage.start_service(replica, &["--migrate"]);
        }
        sleep(millis(rng, 0, 500)).await;
        let victim = rng.random_range(0..REPLICAS);
        stage.kill_service(victim);
        let began = Instant::now();
        stage.start_service(victim, &["--migrate"]);
        stage.ready().await;
        let took = began.elapsed();
        stage.mint_operator();
        Ok(Some(took))
    }

    /// Does it and takes it back. Returns the moment from which everything could work again.
    pub(crate) async fn strike(
        self,
        stage: &Stage,
        rng: &mut StdRng,
        pace: Pace,
    ) -> Result<Instant, String> {
        match self {
            Self::ServerKilled => Ok(kill_servers(stage, rng).await),
            Self::PostgresKilled => {
                postgres(|| stage.postgres.kill())?;
                sleep(millis(rng, 0, 1500)).await;
                postgres(|| stage.postgres.restart())?;
                Ok(Instant::now())
            }
            Self::BackendsEnded | Self::Pooler => end_backends(stage, rng).await,
            Self::PostgresPaused => {
                postgres(|| stage.postgres.pause())?;
                sleep(pace.pause).await;
                postgres(|| stage.postgres.resume())?;
                Ok(Instant::now())
            }
            Self::LineReset => Ok(line(stage, Line::Reset, millis(rng, 200, 1500)).await),
            Self::LineStalled => Ok(line(stage, Line::Stall, millis(rng, 500, 7000)).await),
            Self::LineHalfOpen => Ok(line(stage, Line::HalfOpen, millis(rng, 500, 3000)).await),
            Self::CommitAnswerLost => Ok(lose_answers(stage, rng).await),
            Self::CallersLine => Ok(break_fronts(stage, rng).await),
            Self::Terminated => {
                let replica = rng.random_range(0..REPLICAS);
                stage.terminate_service(replica).await?;
                let lifted = Instant::now();
                stage.start_service(replica, &[]);
                Ok(lifted)
            }
            Self::Migration => Ok(Instant::now()),
            Self::PoolExhausted => {
                let lock = "begin; lock table users, cross_channel_messages in access exclusive mode; \
                            select pg_sleep(4); commit;";
                let (postgres, database) = (stage.postgres.clone(), stage.database());
                let held =
                    tokio::task::spawn_blocking(move || postgres.psql(&database, lock)).await;
                held.map_err(text)?.map_err(text)?;
                Ok(Instant::now())
            }
            Self::DiskFullSpool => fill_spool(stage, rng).await,
            Self::DiskFullPostgres => fill_postgres(stage, rng).await,
        }
    }
}

async fn kill_servers(stage: &Stage, rng: &mut StdRng) -> Instant {
    let first = rng.random_range(0..REPLICAS);
    let both = rng.random_ratio(1, 4);
    let victims: Vec<usize> = if both {
        (0..REPLICAS).collect()
    } else {
        vec![first]
    };
    for victim in &victims {
        stage.kill_service(*victim);
    }
    sleep(millis(rng, 0, 500)).await;
    let lifted = Instant::now();
    for victim in victims {
        stage.start_service(victim, &[]);
    }
    lifted
}

async fn end_backends(stage: &Stage, rng: &mut StdRng) -> Result<Instant, String> {
    let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
               where pid <> pg_backend_pid() and backend_type = 'client backend';";
    for _ in 0..3 {
        postgres(|| stage.postgres.psql(&stage.database(), sql).map(drop))?;
        sleep(millis(rng, 20, 300)).await;
    }
    Ok(Instant::now())
}

async fn line(stage: &Stage, fault: Line, hold: Duration) -> Instant {
    if let Some(line) = &stage.line {
        line.set(fault);
        sleep(hold).await;
        line.set(Line::Pass);
    }
    Instant::now()
}

async fn lose_answers(stage: &Stage, rng: &mut StdRng) -> Instant {
    for _ in 0..5 {
        let after = rng.random_range(0..400);
        let fault = if rng.random() {
            Line::CutReplies { after }
        } else {
            Line::LoseReplies { after }
        };
        line(stage, fault, millis(rng, 20, 200)).await;
        sleep(millis(rng, 20, 200)).await;
    }
    Instant::now()
}

async fn break_fronts(stage: &Stage, rng: &mut StdRng) -> Instant {
    for _ in 0..5 {
        let after = rng.random_range(0..300);
        let fault = match rng.random_range(0..3) {
            0 => Line::CutReplies { after },
            1 => Line::Reset,
            _ => Line::HalfOpen,
        };
        let front = &stage.fronts[rng.random_range(0..REPLICAS)];
        front.set(fault);
        sleep(millis(rng, 20, 300)).await;
        front.set(Line::Pass);
    }
    Instant::now()
}

async fn fill_spool(stage: &Stage, rng: &mut StdRng) -> Result<Instant, String> {
    let Some(disk) = &stage.disk else {
        return Ok(Instant::now());
    };
    postgres(|| stage.postgres.kill())?;
    sleep(millis(rng, 100, 600)).await;
    block_in_place(|| disk.fill());
    sleep(millis(rng, 500, 1500)).await;
    disk.free();
    sleep(millis(rng, 100, 600)).await;
    postgres(|| stage.postgres.restart())?;
    Ok(Instant::now())
}

async fn fill_postgres(stage: &Stage, rng: &mut StdRng) -> Result<Instant, String> {
    let Some(disk) = &stage.disk else {
        return Ok(Instant::now());
    };
    block_in_place(|| disk.fill());
    // A segment of the log that is already there is written to its end first.
    let switch = "select pg_switch_wal();";
    for _ in 0..4 {
        let _ = block_in_place(|| stage.postgres.psql(&stage.database(), switch));
        sleep(millis(rng, 100, 500)).await;
    }
    disk.free();
    for _ in 0..20 {
        if block_in_place(|| stage.postgres.psql(&stage.database(), "select 1;")).is_ok() {
            return Ok(Instant::now());
        }
        sleep(Duration::from_millis(100)).await;
    }
    // It gave up, as it does when its log cannot be written at start.
    postgres(|| stage.postgres.restart())?;
    Ok(Instant::now())
}

fn postgres(
    work: impl FnOnce() -> Result<(), throughline_scratch_postgres::Error>,
) -> Result<(), String> {
    block_in_place(work).map_err(text)
}

fn text(error: impl fmt::Display) -> String {
    error.to_string()
}

fn millis(rng: &mut StdRng, least: u64, most: u64) -> Duration {
    Duration::from_millis(rng.random_range(least..=most))
}
