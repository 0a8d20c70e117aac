//! A detector that does as it is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use throughline_redacted_memory::Detect;
use throughline_redaction::{Detector, DetectorIdentity, Scan, TurnContent};
use tokio::sync::Mutex;

/// One for all tests: building it takes longer than most of them.
pub(crate) fn real() -> Arc<Detector> {
    static REAL: LazyLock<Arc<Detector>> = LazyLock::new(Arc::default);
    REAL.clone()
}

/// Scans as the real one, unless a turn holds one of these words.
pub(crate) struct StandIn {
    real: Arc<Detector>,
    identity: DetectorIdentity,
    /// Whether `crash` makes it panic.
    pub(crate) panics: AtomicBool,
    /// Whether nothing is found.
    pub(crate) blind: AtomicBool,
    /// `wait` makes it wait until this is free.
    pub(crate) gate: Arc<Mutex<()>>,
}

impl StandIn {
    /// Of that version.
    pub(crate) fn new(version: u32) -> Arc<Self> {
        let real = real();
        let identity = DetectorIdentity {
            version,
            ..real.identity().clone()
        };
        Arc::new(Self {
            real,
            identity,
            panics: AtomicBool::new(true),
            blind: AtomicBool::new(false),
            gate: Arc::default(),
        })
    }
}

impl Detect for StandIn {
    fn identity(&self) -> &DetectorIdentity {
        &self.identity
    }

    fn scan_turn(&self, turn: &TurnContent<'_>) -> Scan {
        let says = |word| turn.user_message.contains(word);
        assert!(
            !(says("crash") && self.panics.load(Ordering::SeqCst)),
            "told to"
        );
        if says("wait") {
            drop(self.gate.blocking_lock());
        }
        let mut scan = self.real.scan_turn(turn);
        if self.blind.load(Ordering::SeqCst) {
            scan.spans.clear();
        }
        scan
    }
}
