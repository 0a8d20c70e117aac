//! Masks: made when text is shown, never stored over it (except where a tenant asks for that).

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::detector::MASKED_BY_DEFAULT;
use crate::{Entity, Span};

/// How a masked span looks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum MaskStyle {
    /// `[EMAIL]`: readable, hides the length.
    #[default]
    Label,
    /// One `*` for each byte: offsets that a client holds stay right.
    SameLength,
    /// `[EMAIL_1]`, `[EMAIL_2]`: two values in one turn stay apart. Values are compared by a digest
    /// under this key, so that nothing derived from them alone is ever kept.
    Numbered {
        /// A secret of the tenant's.
        key: Vec<u8>,
    },
}

/// What is masked, and how. [`Entity::Unscanned`] always is.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskPolicy {
    entities: u16,
    /// Spans below this score are shown.
    pub min_score: f32,
    /// How a masked span looks.
    pub style: MaskStyle,
}

impl Default for MaskPolicy {
    /// Everything but URLs, from a score of 0.5, as labels.
    fn default() -> Self {
        Self {
            entities: MASKED_BY_DEFAULT,
            min_score: 0.5,
            style: MaskStyle::Label,
        }
    }
}

impl MaskPolicy {
    /// The same policy, masking this entity too.
    #[must_use]
    pub fn with(mut self, entity: Entity) -> Self {
        self.entities |= entity.bit();
        self
    }

    /// The same policy, showing this entity.
    #[must_use]
    pub fn without(mut self, entity: Entity) -> Self {
        self.entities &= !entity.bit();
        self
    }

    /// The same policy in another style.
    #[must_use]
    pub fn styled(mut self, style: MaskStyle) -> Self {
        self.style = style;
        self
    }

    /// Whether a span of this entity and score is masked.
    pub fn masks(&self, entity: Entity, score: f32) -> bool {
        entity == Entity::Unscanned
            || (self.entities & entity.bit() != 0 && score >= self.min_score)
    }
}

/// The spans are not of this text: an offset is out of range or inside a character. The row counts
/// as pending, never as clean (T-33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSpans;

impl std::fmt::Display for InvalidSpans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the stored spans do not fit the text, scan it again")
    }
}

impl std::error::Error for InvalidSpans {}

/// Masks a text. Overlapping spans become one mask: leaking a tail is worse than a wrong label.
pub fn mask_text(text: &str, spans: &[Span], policy: &MaskPolicy) -> Result<String, InvalidSpans> {
    let cuts = spans.iter().map(Cut::from).collect();
    Masker::new(policy).text(text, cuts)
}

/// A stretch to replace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) entity: Entity,
    pub(crate) score: f32,
}

impl From<&Span> for Cut {
    fn from(span: &Span) -> Self {
        Self {
            start: span.start,
            end: span.end,
            entity: span.entity,
            score: span.score,
        }
    }
}

/// Masks the texts of one turn, so that numbers count through all of them.
pub(crate) struct Masker<'p> {
    policy: &'p MaskPolicy,
    numbers: HashMap<[u8; 32], usize>,
    used: [usize; Entity::ALL.len()],
    /// How many masks were made, by entity.
    pub(crate) counts: [usize; Entity::ALL.len()],
}

impl<'p> Masker<'p> {
    pub(crate) fn new(policy: &'p MaskPolicy) -> Self {
        let none = [0; Entity::ALL.len()];
        Self {
            policy,
            numbers: HashMap::new(),
            used: none,
            counts: none,
        }
    }

    pub(crate) fn policy(&self) -> &MaskPolicy {
        self.policy
    }

    pub(crate) fn text(&mut self, text: &str, cuts: Vec<Cut>) -> Result<String, InvalidSpans> {
        let cuts = self.merged(text, cuts)?;
        Ok(self.render(text, &cuts, |_| None))
    }

    /// Replaces the cuts; `quote` tells which replacements stand in quotes of their own, and in which. In the
    /// style that keeps lengths the quotes are part of the length.
    pub(crate) fn render(
        &mut self,
        text: &str,
        cuts: &[Cut],
        quote: impl Fn(&Cut) -> Option<String>,
    ) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut shown = 0;
        for cut in cuts {
            masked.push_str(&text[shown..cut.start]);
            let value = &text[cut.start..cut.end];
            let quote = quote(cut).unwrap_or_default();
            let mask = match &self.policy.style {
                MaskStyle::SameLength => {
                    self.counts[cut.entity as usize] += 1;
                    "*".repeat(value.len().saturating_sub(2 * quote.len()).max(1))
                }
                _ => self.mask(cut.entity, value),
            };
            masked.extend([quote.as_str(), &mask, &quote]);
            shown = cut.end;
        }
        masked.push_str(&text[shown..]);
        masked
    }

    /// The replacement for a value.
    pub(crate) fn mask(&mut self, entity: Entity, value: &str) -> String {
        self.counts[entity as usize] += 1;
        match &self.policy.style {
            MaskStyle::Label => format!("[{entity}]"),
            MaskStyle::SameLength => "*".repeat(value.len()),
            MaskStyle::Numbered { key } => {
                let digest = keyed_digest(key, entity, value);
                let used = &mut self.used[entity as usize];
                let number = *self.numbers.entry(digest).or_insert_with(|| {
                    *used += 1;
                    *used
                });
                format!("[{entity}_{number}]")
            }
        }
    }

    /// Checks every span, keeps those the policy masks, and joins those that overlap.
    pub(crate) fn merged(&self, text: &str, mut cuts: Vec<Cut>) -> Result<Vec<Cut>, InvalidSpans> {
        let fits = |cut: &Cut| {
            cut.start < cut.end
                && text.is_char_boundary(cut.start)
                && text.is_char_boundary(cut.end)
        };
        if !cuts.iter().all(fits) {
            return Err(InvalidSpans);
        }
        cuts.retain(|cut| self.policy.masks(cut.entity, cut.score));
        cuts.sort_by_key(|cut| (cut.start, std::cmp::Reverse(cut.end), cut.entity));
        let mut merged: Vec<Cut> = Vec::with_capacity(cuts.len());
        for cut in cuts {
            match merged.last_mut() {
                Some(last) if cut.start < last.end => {
                    // The outer one names what is inside it; of two that cross, the surer one.
                    if cut.end > last.end && cut.score > last.score {
                        last.entity = cut.entity;
                        last.score = cut.score;
                    }
                    last.end = last.end.max(cut.end);
                }
                _ => merged.push(cut),
            }
        }
        Ok(merged)
    }
}

/// HMAC-SHA256 of the value under the key, with its case folded and its punctuation left out, so
/// that one number written in two ways is one number.
fn keyed_digest(key: &[u8], entity: Entity, value: &str) -> [u8; 32] {
    let mut block = [0_u8; 64];
    if key.len() > block.len() {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let plain: String = match entity {
        Entity::Secret | Entity::Crypto | Entity::Url => value.to_owned(),
        Entity::Email | Entity::Ip => value.to_lowercase(),
        _ => value
            .chars()
            .filter(|ch| ch.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect(),
    };
    let inner = Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x36))
        .chain_update(entity.name())
        .chain_update([0])
        .chain_update(plain)
        .finalize();
    Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x5c))
        .chain_update(inner)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::{InvalidSpans, MaskPolicy, MaskStyle, mask_text};
    use crate::testing::DETECTOR;
    use crate::{Entity, Span};

    fn masked(text: &str, policy: &MaskPolicy) -> String {
        mask_text(text, &DETECTOR.scan_text(text), policy).unwrap()
    }

    #[test]
    fn the_label_hides_the_value_and_its_length() {
        let policy = MaskPolicy::default();
        assert_eq!(
            masked("write jo@example.com today", &policy),
            "write [EMAIL] today"
        );
    }

    #[test]
    fn an_address_in_a_shown_url_is_masked_all_the_same() {
        let text = "see https://example.com/u/jo@example.org/x";
        assert_eq!(
            masked(text, &MaskPolicy::default()),
            "see https://example.com/u/[EMAIL]/x"
        );
        assert_eq!(
            masked(text, &MaskPolicy::default().with(Entity::Url)),
            "see [URL]"
        );
    }

    #[test]
    fn same_length_keeps_byte_offsets() {
        let policy = MaskPolicy::default().styled(MaskStyle::SameLength);
        let text = "ß ring +44 20 7946 0958 ß";
        assert_eq!(masked(text, &policy).len(), text.len());
    }

    #[test]
    fn numbers_tell_two_values_apart_and_one_value_written_twice_is_one() {
        let policy = MaskPolicy::default().styled(MaskStyle::Numbered {
            key: b"tenant".to_vec(),
        });
        let text = "a@example.com, b@example.com, A@example.com";
        assert_eq!(masked(text, &policy), "[EMAIL_1], [EMAIL_2], [EMAIL_1]");
    }

    #[test]
    fn spans_of_another_text_are_refused() {
        let spans = |start, end| {
            [Span {
                start,
                end,
                entity: Entity::Email,
                score: 1.0,
                rule: "email",
                rule_rev: 1,
            }]
        };
        let policy = MaskPolicy::default();
        assert_eq!(mask_text("ß", &spans(0, 1), &policy), Err(InvalidSpans));
        assert_eq!(mask_text("ab", &spans(1, 3), &policy), Err(InvalidSpans));
        assert_eq!(mask_text("ab", &spans(1, 1), &policy), Err(InvalidSpans));
    }

    #[test]
    fn crossing_spans_become_one_mask_under_the_surer_label() {
        let span = |start, end, entity, score| Span {
            start,
            end,
            entity,
            score,
            rule: "x",
            rule_rev: 1,
        };
        let spans = [
            span(0, 4, Entity::Phone, 0.5),
            span(2, 6, Entity::Secret, 0.9),
        ];
        assert_eq!(
            mask_text("abcdefgh", &spans, &MaskPolicy::default()).unwrap(),
            "[SECRET]gh"
        );
    }
}
