//! A turn is looked through on its way in.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prometheus::Registry;
use serde_json::json;
use throughline_conversation_memory::{MaskedContent, NewTurn, Redaction};
use throughline_domain::{Clock, Json};
use throughline_redaction::{
    Detector, DetectorIdentity, Entity, MaskPolicy, RedactionMetadata, Scan, TurnContent, mask_turn,
};

use crate::detect::Detect;
use crate::metrics::RedactionMetrics;

/// Up to this much text is scanned where the request runs: a tenth of a millisecond a turn. More goes
/// to a thread of its own, so that one large turn holds up nobody else.
const INLINE_BYTES: usize = 64 * 1024;
/// A scan that takes longer leaves its turns pending for the job.
const PATIENCE: Duration = Duration::from_millis(500);

/// What came of looking through a turn.
#[derive(Debug)]
pub enum Scanned {
    /// Where what stands, for masks at read time.
    Found(Redaction),
    /// The detector failed; the turn must count as unscanned.
    Failed,
}

/// The detector with its limits and its metrics.
#[derive(Clone)]
pub struct Scanner {
    detector: Arc<dyn Detect>,
    clock: Arc<dyn Clock>,
    metrics: Arc<RedactionMetrics>,
    patience: Duration,
}

impl Scanner {
    /// One detector for all callers.
    pub fn new(
        detector: Arc<dyn Detect>,
        clock: Arc<dyn Clock>,
        metrics: Arc<RedactionMetrics>,
    ) -> Self {
        Self {
            detector,
            clock,
            metrics,
            patience: PATIENCE,
        }
    }

    /// The built-in detector, counting in that registry: one for the memory and the job together.
    pub fn built_in(clock: Arc<dyn Clock>, registry: &Registry) -> Result<Self, prometheus::Error> {
        let metrics = Arc::new(RedactionMetrics::register(registry)?);
        Ok(Self::new(Arc::new(Detector::default()), clock, metrics))
    }

    /// The same, giving an append's scan up after another time.
    #[must_use]
    pub fn patient_for(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Who looks.
    pub fn identity(&self) -> &DetectorIdentity {
        self.detector.identity()
    }

    /// Where this scanner counts.
    pub fn metrics(&self) -> &RedactionMetrics {
        &self.metrics
    }

    /// Looks through the turns; one whose scan fails or is not done in time stays pending.
    pub(crate) async fn marked(&self, turns: Vec<NewTurn>) -> Vec<NewTurn> {
        self.each(turns, |scanner, turn| match scanner.scan(&content(&turn)) {
            Scanned::Found(redaction) => turn.with_redaction(redaction),
            Scanned::Failed => turn,
        })
        .await
    }

    /// Looks through the turns and puts masked texts in the place of the original ones. A turn whose
    /// scan fails or is not done in time stays as it was, pending: the caller must not store it.
    pub(crate) async fn masked(&self, turns: Vec<NewTurn>, policy: MaskPolicy) -> Vec<NewTurn> {
        self.each(turns, move |scanner, turn| {
            scanner.masked_turn(turn, &policy)
        })
        .await
    }

    async fn each(
        &self,
        turns: Vec<NewTurn>,
        work: impl Fn(&Self, NewTurn) -> NewTurn + Send + 'static,
    ) -> Vec<NewTurn> {
        let bytes: usize = turns.iter().map(|turn| content(turn).len()).sum();
        if bytes <= INLINE_BYTES {
            return turns.into_iter().map(|turn| work(self, turn)).collect();
        }
        let (scanner, copies) = (self.clone(), turns.clone());
        let scan = tokio::task::spawn_blocking(move || {
            copies
                .into_iter()
                .map(|turn| work(&scanner, turn))
                .collect()
        });
        if let Ok(Ok(done)) = tokio::time::timeout(self.patience, scan).await {
            return done;
        }
        self.metrics.failed(turns.len());
        turns
    }

    /// Looks through one turn.
    pub fn scan(&self, content: &TurnContent<'_>) -> Scanned {
        self.look(content)
            .map_or(Scanned::Failed, |scan| Scanned::Found(self.redaction(scan)))
    }

    fn look(&self, content: &TurnContent<'_>) -> Option<Scan> {
        let started = Instant::now();
        // The detector is built never to panic; if it does all the same, one turn waits for the
        // job instead of one request failing.
        let scan = catch_unwind(AssertUnwindSafe(|| self.detector.scan_turn(content))).ok();
        match &scan {
            Some(scan) => self.metrics.scanned(scan, started.elapsed()),
            None => self.metrics.failed(1),
        }
        scan
    }

    fn redaction(&self, scan: Scan) -> Redaction {
        let identity = self.detector.identity();
        if scan.is_clean() {
            return Redaction::clean(identity.version);
        }
        self.stored(&scan.into_metadata(identity, self.clock.now().as_micros()))
    }

    /// What was found, in its stored form before it is text; `None` when the detector failed.
    pub(crate) fn found(&self, content: &TurnContent<'_>) -> Option<RedactionMetadata> {
        let scan = self.look(content)?;
        let now = self.clock.now().as_micros();
        Some(scan.into_metadata(self.detector.identity(), now))
    }

    /// As a store keeps it; pending when it has no text.
    pub(crate) fn stored(&self, found: &RedactionMetadata) -> Redaction {
        let version = self.detector.identity().version;
        if found.spans.is_empty() {
            return Redaction::clean(version);
        }
        serde_json::to_string(found).map_or_else(
            |_| Redaction::pending(),
            |text| Redaction::redacted(version, Json::from_stored(&text)),
        )
    }

    fn masked_turn(&self, turn: NewTurn, policy: &MaskPolicy) -> NewTurn {
        let given = content(&turn);
        let Some(scan) = self.look(&given) else {
            return turn;
        };
        let identity = self.detector.identity();
        if scan.is_clean() {
            return turn.with_redaction(Redaction::clean(identity.version));
        }
        let findings = scan.into_metadata(identity, self.clock.now().as_micros());
        let Ok(masked) = mask_turn(&given, &findings, policy) else {
            return turn;
        };
        let redaction =
            Redaction::redacted(identity.version, counts_only(&findings, &masked.counts));
        let content = MaskedContent {
            user_message: masked.user_message,
            assistant_answer: masked.assistant_answer,
            tool_calls: masked.tool_calls.as_deref().map(Json::from_stored),
            metadata: Json::from_stored(&masked.metadata),
        };
        turn.with_masked_content(content, redaction)
    }
}

/// Offsets into a text that is stored nowhere would mean nothing: a masked turn keeps counts (T-30).
fn counts_only(findings: &RedactionMetadata, counts: &BTreeMap<Entity, usize>) -> Json {
    let counts: BTreeMap<&str, usize> = counts
        .iter()
        .map(|(entity, count)| (entity.name(), *count))
        .collect();
    let document = json!({
        "v": findings.v,
        "detector": { "id": findings.detector.id, "version": findings.detector.version },
        "scanned_at": findings.scanned_at,
        "counts": counts,
    });
    Json::from_stored(&document.to_string())
}

fn content(turn: &NewTurn) -> TurnContent<'_> {
    TurnContent {
        user_message: turn.user_message(),
        assistant_answer: turn.assistant_answer(),
        tool_calls: turn.tool_calls().map(Json::as_str),
        metadata: turn.metadata().as_str(),
    }
}
