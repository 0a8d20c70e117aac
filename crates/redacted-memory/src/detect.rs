//! What looks at a turn.

use throughline_redaction::{Detector, DetectorIdentity, Scan, TurnContent};

/// The detector, or what stands in for one where it is to fail.
pub trait Detect: Send + Sync {
    /// Who looks: stored with every result.
    fn identity(&self) -> &DetectorIdentity;

    /// Looks through every field.
    fn scan_turn(&self, turn: &TurnContent<'_>) -> Scan;
}

impl Detect for Detector {
    fn identity(&self) -> &DetectorIdentity {
        Self::identity(self)
    }

    fn scan_turn(&self, turn: &TurnContent<'_>) -> Scan {
        Self::scan_turn(self, turn)
    }
}
