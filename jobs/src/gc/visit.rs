//! One tenant, one slice: the passes in their order, chunk by chunk, under a claim.

use throughline_conversation_memory::{
    Caps, Lease, LeaseOwner, Pass, Restamp, RetentionError, Swept,
};
use throughline_domain::UserId;
use throughline_tenancy::Tenant;
use tokio::time::Instant;

use super::pace::Pace;
use super::{Fault, GcParts, LEASE};
use crate::job::{Done, JobContext, Report};
use crate::reconcile::mend;

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visited {
    /// Nothing is left to do.
    Finished,
    /// Another replica has it, or took it over.
    LeftToOthers,
    /// There is more to do.
    SliceSpent,
    /// The run was told to stop.
    Stopped,
}

/// Why the passes are not gone on with.
enum Halt {
    Ended(Visited),
    Failed(Fault),
}

impl<E: Into<Fault>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

pub(super) struct Visit<'a> {
    parts: &'a GcParts,
    tenant: &'a Tenant,
    lease: Lease,
    renewed_at: Instant,
    slice_ends: Instant,
    dry_run: bool,
    pace: Pace,
    context: &'a JobContext,
    report: &'a mut Report,
}

impl<'a> Visit<'a> {
    pub(super) fn new(
        parts: &'a GcParts,
        tenant: &'a Tenant,
        owner: LeaseOwner,
        context: &'a JobContext,
        report: &'a mut Report,
    ) -> Self {
        let now = Instant::now();
        Self {
            parts,
            tenant,
            lease: Lease {
                job: LEASE,
                tenant: tenant.id.clone(),
                owner,
            },
            renewed_at: now,
            slice_ends: now + parts.settings.slice,
            dry_run: context.request.as_ref().is_some_and(|asked| asked.dry_run),
            pace: Pace::new(parts.settings.chunk),
            context,
            report,
        }
    }

    pub(super) async fn run(mut self) -> Result<Visited, Fault> {
        if self.dry_run {
            return finished(self.passes().await);
        }
        let life = self.parts.settings.lease_life;
        if !self.parts.leases.acquire(&self.lease, life).await? {
            return Ok(Visited::LeftToOthers);
        }
        let visited = finished(self.passes().await);
        if !matches!(visited, Ok(Visited::LeftToOthers)) {
            let done = matches!(visited, Ok(Visited::Finished));
            let given_back = self.parts.leases.release(&self.lease, done).await;
            // The claim ends by itself; an error of the passes tells more.
            if visited.is_ok() {
                given_back?;
            }
        }
        visited
    }

    async fn passes(&mut self) -> Result<(), Halt> {
        let config = &self.tenant.config;
        self.restamp().await?;
        self.pass(Pass::Ended).await?;
        let no_limit = u64::MAX;
        self.over_cap(Caps {
            turns: config.turn_cap,
            bytes: no_limit,
        })
        .await?;
        self.over_cap(Caps {
            turns: no_limit,
            bytes: config.byte_cap,
        })
        .await?;
        let kept = config.audit_retention();
        self.pass(Pass::Audit { kept }).await?;
        self.pass(Pass::Tombstones).await
    }

    async fn restamp(&mut self) -> Result<(), Halt> {
        if self.dry_run {
            return Ok(());
        }
        let rule = Restamp {
            ttl: self.tenant.config.ttl(),
            extend: self.tenant.config.extend_existing,
        };
        loop {
            let (begun, before) = self.begin_chunk();
            let chunk = self.pace.chunk();
            let done = self
                .parts
                .retention
                .restamp(&self.tenant.id, rule, chunk)
                .await?;
            self.parts.metrics.restamped.inc_by(done.rows);
            self.note("restamp", done.rows, 0);
            if !done.more {
                return Ok(());
            }
            self.go_on(begun, before).await?;
        }
    }

    /// One user after the other: the caps are a person's.
    async fn over_cap(&mut self, caps: Caps) -> Result<(), Halt> {
        let mut after: Option<UserId> = None;
        loop {
            let found = self
                .parts
                .retention
                .over_cap(&self.tenant.id, caps, after)
                .await?;
            for (user, _) in found.users {
                self.pass(if caps.bytes == u64::MAX {
                    Pass::Count {
                        user,
                        cap: caps.turns,
                    }
                } else {
                    Pass::Bytes {
                        user,
                        cap: caps.bytes,
                    }
                })
                .await?;
            }
            after = found.next;
            if after.is_none() {
                return Ok(());
            }
            self.may_go_on()?;
        }
    }

    /// Chunks until nothing is left.
    async fn pass(&mut self, pass: Pass) -> Result<(), Halt> {
        let word = word(pass);
        if self.dry_run {
            let would = self.parts.retention.preview(&self.tenant.id, pass).await?;
            self.note(word, would.rows, would.bytes);
            return self.may_go_on();
        }
        loop {
            let (begun, before) = self.begin_chunk();
            let swept = self.chunk(pass).await?;
            self.parts
                .metrics
                .chunk_seconds
                .observe(begun.elapsed().as_secs_f64());
            self.parts
                .metrics
                .deletes
                .with_label_values(&[word])
                .inc_by(swept.rows);
            self.note(word, swept.rows, swept.bytes);
            if !swept.more {
                return Ok(());
            }
            self.go_on(begun, before).await?;
        }
    }

    /// One chunk. Counters that cannot be right are mended, once (T-71).
    async fn chunk(&mut self, pass: Pass) -> Result<Swept, Halt> {
        let life = self.tenant.config.tombstone_life();
        let sweep = || {
            self.parts
                .retention
                .sweep(&self.tenant.id, pass, self.pace.chunk(), life)
        };
        match sweep().await {
            Err(RetentionError::Drifted) => {}
            swept => return Ok(swept?),
        }
        tracing::warn!(tenant.id = %self.tenant.id, "counters disagree with turns; they are reconciled");
        mend(
            &self.parts.retention,
            &self.parts.metrics,
            &self.tenant.id,
            self.context,
        )
        .await?;
        Ok(sweep().await?)
    }

    fn begin_chunk(&mut self) -> (Instant, throughline_conversation_memory::Load) {
        let now = Instant::now();
        let load = self.parts.retention.load();
        self.pace.begins(load, now);
        (now, load)
    }

    /// Between two chunks: rest, keep the claim, see whether to go on.
    async fn go_on(
        &mut self,
        begun: Instant,
        before: throughline_conversation_memory::Load,
    ) -> Result<(), Halt> {
        let now = Instant::now();
        let after = self.parts.retention.load();
        let rest = self.pace.ended(before, after, now - begun, now);
        self.context.pause(rest).await;
        let life = self.parts.settings.lease_life;
        if self.renewed_at.elapsed() >= life / 3 {
            if !self.parts.leases.renew(&self.lease, life).await? {
                self.parts.metrics.leases_lost.inc();
                return Err(Halt::Ended(Visited::LeftToOthers));
            }
            self.renewed_at = Instant::now();
        }
        self.may_go_on()
    }

    fn may_go_on(&self) -> Result<(), Halt> {
        if self.context.should_stop() {
            Err(Halt::Ended(Visited::Stopped))
        } else if Instant::now() >= self.slice_ends && !self.dry_run {
            Err(Halt::Ended(Visited::SliceSpent))
        } else {
            Ok(())
        }
    }

    fn note(&mut self, pass: &'static str, rows: u64, bytes: u64) {
        if rows == 0 {
            return;
        }
        let tenant = &self.tenant.id;
        let mut done = self.report.done.iter_mut().rev();
        match done.find(|done| done.pass == pass && done.tenant == *tenant) {
            Some(done) => {
                done.rows += rows;
                done.bytes += bytes;
            }
            None => self.report.done.push(Done {
                tenant: tenant.clone(),
                pass,
                rows,
                bytes,
            }),
        }
    }
}

fn finished(passes: Result<(), Halt>) -> Result<Visited, Fault> {
    match passes {
        Ok(()) => Ok(Visited::Finished),
        Err(Halt::Ended(visited)) => Ok(visited),
        Err(Halt::Failed(error)) => Err(error),
    }
}

fn word(pass: Pass) -> &'static str {
    match pass {
        Pass::Ended => "ttl",
        Pass::Count { .. } => "count",
        Pass::Bytes { .. } => "bytes",
        Pass::Audit { .. } => "audit",
        Pass::Tombstones => "tombstones",
    }
}
