//! What a scan of a stored turn means for its row.

use throughline_conversation_memory::{Due, Redaction, Settlement, Turn};
use throughline_domain::Json;
use throughline_redaction::{MaskPolicy, RedactionMetadata, TurnContent, mask_turn};

use super::{FAILURES, Sweep};

/// Which changes a result may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// Only more masks.
    Widening,
    /// Any: an operator said so.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// `kept`: old masks stay beside what was found.
    Scanned { kept: bool },
    /// To be tried again.
    Failed,
    /// Tried often enough.
    Covered,
}

/// A verdict, and what it writes.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) settlement: Settlement,
    pub(super) bytes: u64,
}

impl Sweep {
    pub(super) async fn judge(&self, due: Due, changes: Changes) -> Judged {
        let scanner = self.scanner.clone();
        let turn = due.turn.clone();
        // On a thread of its own: a scan that never ends holds up nothing but itself.
        let scan = tokio::task::spawn_blocking(move || scanner.found(&content(&turn)));
        let found = if let Ok(Ok(found)) = tokio::time::timeout(self.patience, scan).await {
            found
        } else {
            self.scanner.metrics().failed(1);
            None
        };
        let found = found.and_then(|found| merged(&due.turn, found, changes));
        match (found, changes) {
            (Some((found, kept)), _) => self.scanned(&due, &found, kept),
            (None, Changes::Widening) => self.failed(&due),
            (None, Changes::Any) => judged(&due, Verdict::Failed, due.turn.redaction.clone(), 0),
        }
    }

    fn scanned(&self, due: &Due, found: &RedactionMetadata, kept: bool) -> Judged {
        match self.scanner.stored(found) {
            redaction if redaction.detector_version().is_none() => self.failed(due),
            redaction => judged(due, Verdict::Scanned { kept }, redaction, 0),
        }
    }

    fn failed(&self, due: &Due) -> Judged {
        let failures = due.failures.saturating_add(1);
        if failures < FAILURES {
            return judged(due, Verdict::Failed, due.turn.redaction.clone(), failures);
        }
        let identity = self.scanner.identity();
        let now = self.clock.now().as_micros();
        let whole = RedactionMetadata::covering(&content(&due.turn), identity, now);
        judged(due, Verdict::Covered, self.scanner.stored(&whole), failures)
    }
}

fn judged(due: &Due, verdict: Verdict, redaction: Redaction, failures: u32) -> Judged {
    let mut settlement = due.settled(redaction);
    settlement.failures = failures;
    Judged {
        verdict,
        settlement,
        bytes: content(&due.turn).len() as u64,
    }
}

/// The result that may be stored, and whether old masks are in it. `None` when it does not fit the
/// turn: a reader would leave the turn out for ever.
fn merged(
    turn: &Turn,
    found: RedactionMetadata,
    changes: Changes,
) -> Option<(RedactionMetadata, bool)> {
    let content = content(turn);
    let fits =
        |found: &RedactionMetadata| mask_turn(&content, found, &MaskPolicy::default()).is_ok();
    let older = older(turn).filter(|older| older.describes(&content) && fits(older));
    let kept = older.filter(|older| changes == Changes::Widening && !found.covers(older));
    let result = match &kept {
        Some(older) => found.widened_by(older),
        None => found,
    };
    fits(&result).then_some((result, kept.is_some()))
}

/// What was found before, if it can be read.
fn older(turn: &Turn) -> Option<RedactionMetadata> {
    let findings = turn.redaction.findings()?;
    serde_json::from_str(findings.as_str()).ok()
}

pub(super) fn content(turn: &Turn) -> TurnContent<'_> {
    TurnContent {
        user_message: &turn.user_message,
        assistant_answer: &turn.assistant_answer,
        tool_calls: turn.tool_calls.as_ref().map(Json::as_str),
        metadata: turn.metadata.as_str(),
    }
}
