//! The real sweep over whatever the test put behind the surface.

use std::sync::Arc;

use throughline_api::{AppendCounters, Capabilities};
use throughline_append_queue::{Counts, Deps, QueueMetrics, drain_outbox};
use throughline_conversation_memory::ChannelKind;
use throughline_domain::WorkerId;
use throughline_wire::{JobRunAnswer, OutboxRunAnswer};
use tokio_util::sync::CancellationToken;

pub(crate) struct Sweep(Deps);

struct Shared(Arc<AppendCounters>);

impl Counts for Shared {
    fn stored(&self, channel_kind: &ChannelKind) {
        self.0.stored(channel_kind.as_str());
    }

    fn failed(&self) {
        self.0.failed_in_queue();
    }
}

impl Sweep {
    pub(crate) fn of(capabilities: &Capabilities, metrics: Arc<QueueMetrics>) -> Self {
        let Capabilities {
            memory,
            identity,
            tenancy,
            outbox,
            clock,
            ids,
            appends,
            ..
        } = capabilities.clone();
        Self(Deps {
            memory,
            identity,
            tenancy,
            outbox,
            spool: None,
            clock,
            ids,
            worker: WorkerId::from_u128(1),
            metrics,
            counts: Arc::new(Shared(appends)),
        })
    }
}

impl Sweep {
    pub(crate) async fn run(&self) -> JobRunAnswer {
        let report = drain_outbox(&self.0, &CancellationToken::new()).await;
        JobRunAnswer {
            job: "outbox".to_owned(),
            outcome: "done".to_owned(),
            dry_run: false,
            tenants: 0,
            left_to_others: 0,
            done: Vec::new(),
            queue: Some(OutboxRunAnswer {
                stored: report.stored,
                duplicates: report.duplicates,
                dropped: report.dropped,
                waiting: report.waiting,
                dead: report.dead,
                expired: report.expired,
                away: report.away,
                unfinished: report.unfinished,
            }),
        }
    }
}
