//! What looking through a turn for personal data found, as a store keeps it beside the turn.

use throughline_domain::Json;

use crate::RedactionState;

/// In which form a turn's texts are stored (T-30).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentForm {
    /// As they were sent; masks are put on when read.
    Raw,
    /// Already masked: the original is nowhere.
    Masked,
}

impl ContentForm {
    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Masked => "masked",
        }
    }

    /// Reads the word back.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Raw, Self::Masked]
            .into_iter()
            .find(|form| form.as_str() == word)
    }
}

/// The result of a scan. The findings say where and what kind, never the matched text (T-34).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    state: RedactionState,
    detector_version: Option<u32>,
    findings: Option<Json>,
}

impl Redaction {
    /// Not scanned: no default reader sees the turn until a job has scanned it.
    pub fn pending() -> Self {
        Self {
            state: RedactionState::Pending,
            detector_version: None,
            findings: None,
        }
    }

    /// Scanned by that version of the detector, and nothing found.
    pub fn clean(detector_version: u32) -> Self {
        Self {
            state: RedactionState::Clean,
            detector_version: Some(detector_version),
            findings: None,
        }
    }

    /// Scanned by that version of the detector, and this was found.
    pub fn redacted(detector_version: u32, findings: Json) -> Self {
        Self {
            state: RedactionState::Redacted,
            detector_version: Some(detector_version),
            findings: Some(findings),
        }
    }

    /// Puts together what a store kept.
    pub fn from_stored(
        state: RedactionState,
        detector_version: Option<u32>,
        findings: Option<Json>,
    ) -> Self {
        Self {
            state,
            detector_version,
            findings,
        }
    }

    /// The state the turn is in.
    pub fn state(&self) -> RedactionState {
        self.state
    }

    /// Which version of the detector looked; `None` while nobody has.
    pub fn detector_version(&self) -> Option<u32> {
        self.detector_version
    }

    /// What was found, in the detector's own form.
    pub fn findings(&self) -> Option<&Json> {
        self.findings.as_ref()
    }
}

/// Texts that take the place of the original ones before they are stored.
#[derive(Clone)]
pub struct MaskedContent {
    /// The user's words, masked.
    pub user_message: String,
    /// The assistant's words, masked.
    pub assistant_answer: String,
    /// Tool calls, masked.
    pub tool_calls: Option<Json>,
    /// Metadata, masked.
    pub metadata: Json,
}
