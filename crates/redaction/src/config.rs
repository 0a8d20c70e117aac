//! What can be set about a detector, and who it is.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Entity;
use crate::context_words::{STEMS, WORDS};
use crate::rules::RULES;
use crate::rules::secret_names::NAMES;
use crate::rules::token_table::SHAPES;

/// Raised whenever the detector's answers can change; stored rows below it are scanned again.
pub const VERSION: u32 = 1;

/// Thresholds and limits. A change of any of them changes the detector's identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DetectorConfig {
    /// Findings below this score are not reported at all.
    pub min_score: f32,
    /// Minimum scores for single entities, over `min_score`.
    pub min_score_of: Vec<(Entity, f32)>,
    /// Entities that are not looked for.
    pub disabled: Vec<Entity>,
    /// Spans in one turn; a leaf that would exceed it is covered whole.
    pub max_spans: usize,
    /// Bytes in one text or JSON leaf; a longer one is covered whole.
    pub max_leaf_bytes: usize,
    /// Depth of JSON that is walked; what lies deeper is covered whole.
    pub max_json_depth: usize,
    /// How often a string inside JSON is read as JSON again.
    pub max_nested_json: usize,
}

impl Default for DetectorConfig {
    fn default() -> Self {
        Self {
            min_score: 0.4,
            min_score_of: Vec::new(),
            disabled: Vec::new(),
            max_spans: 10_000,
            max_leaf_bytes: 16 << 20,
            max_json_depth: 64,
            max_nested_json: 3,
        }
    }
}

impl DetectorConfig {
    pub(crate) fn accepts(&self, entity: Entity, score: f32) -> bool {
        let own = self.min_score_of.iter().find(|(named, _)| *named == entity);
        score >= own.map_or(self.min_score, |(_, least)| *least) && !self.disabled.contains(&entity)
    }
}

/// Which detector, in which version, with which rules and settings, has looked at a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DetectorIdentity {
    /// The detector's name: there may be a second one for names and addresses.
    pub id: String,
    /// Comparable: a re-scan takes rows whose version is lower.
    pub version: u32,
    /// Over every rule, revision, token shape and word list.
    pub ruleset_sha256: String,
    /// Over the settings.
    pub config_sha256: String,
}

impl DetectorIdentity {
    pub(crate) fn new(config: &DetectorConfig) -> Self {
        let mut rules = Sha256::new();
        for rule in RULES {
            let line = format!(
                "{} {} {} {:?}\n",
                rule.id, rule.rev, rule.entity, rule.strength
            );
            rules.update(line);
        }
        rules.update(format!("{SHAPES:?}{WORDS:?}{STEMS:?}{NAMES:?}"));
        Self {
            id: "throughline-rules".to_owned(),
            version: VERSION,
            ruleset_sha256: hex(&rules.finalize()),
            config_sha256: hex(&Sha256::digest(format!("{config:?}"))),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
            text
        })
}
