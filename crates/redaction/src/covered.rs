//! Stretches of a text that will be masked, or are masks already.
//!
//! The words around a number are read over them. Without that, a mask that is shorter than what it
//! stands for would bring a word nearer, and the masked text would hold findings that the text had not.

use crate::Entity;

/// Stretches found so far, in order of their start.
#[derive(Debug, Default)]
pub(crate) struct Covered(Vec<(usize, usize)>);

impl Covered {
    pub(crate) fn add(&mut self, start: usize, end: usize) {
        match self.0.last() {
            Some((last, _)) if start < *last => {
                let at = self.0.partition_point(|(other, _)| *other <= start);
                self.0.insert(at, (start, end));
            }
            _ => self.0.push((start, end)),
        }
    }

    /// A reader that goes from `at` towards the beginning.
    pub(crate) fn back_from(&self, at: usize) -> Backwards<'_> {
        Backwards(&self.0[..self.0.partition_point(|(start, _)| *start < at)])
    }
}

/// Stretches that begin before where the reader stands.
pub(crate) struct Backwards<'c>(&'c [(usize, usize)]);

impl Backwards<'_> {
    /// Where the stretch begins that covers the byte before `at`. Each call must have a smaller
    /// `at` than the one before.
    pub(crate) fn covering(&mut self, at: usize) -> Option<usize> {
        while let Some(((start, end), rest)) = self.0.split_last() {
            if *start < at {
                return (*end >= at).then_some(*start);
            }
            self.0 = rest;
        }
        None
    }
}

/// Where the label begins that ends at `at`: `[EMAIL]`, `[PHONE_2]`.
pub(crate) fn placeholder_before(bytes: &[u8], at: usize) -> Option<usize> {
    const LONGEST: usize = 24;
    if at == 0 || bytes[at - 1] != b']' {
        return None;
    }
    let floor = at.saturating_sub(LONGEST);
    let open = floor + memchr::memrchr(b'[', &bytes[floor..at])?;
    is_label(&bytes[open + 1..at - 1]).then_some(open)
}

/// Whether a label begins at `at`.
pub(crate) fn placeholder_follows(bytes: &[u8], at: usize) -> bool {
    const LONGEST: usize = 24;
    let text = &bytes[at..bytes.len().min(at + LONGEST)];
    let close = memchr::memchr(b']', text);
    text.first() == Some(&b'[') && close.is_some_and(|close| is_label(&text[1..close]))
}

fn is_label(inner: &[u8]) -> bool {
    Entity::ALL.iter().any(|entity| {
        inner
            .strip_prefix(entity.name().as_bytes())
            .is_some_and(|rest| {
                rest.is_empty()
                    || rest.len() > 1 && rest[0] == b'_' && rest[1..].iter().all(u8::is_ascii_digit)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::{Covered, placeholder_before};

    #[test]
    fn labels_are_known_and_other_brackets_are_not() {
        for label in ["[EMAIL]", "[PHONE_12]", "[US_SSN]"] {
            assert_eq!(
                placeholder_before(label.as_bytes(), label.len()),
                Some(0),
                "{label}"
            );
        }
        for other in ["[MAIL]", "[EMAIL_]", "[email]", "EMAIL]"] {
            assert_eq!(
                placeholder_before(other.as_bytes(), other.len()),
                None,
                "{other}"
            );
        }
    }

    #[test]
    fn stretches_are_looked_up_by_their_inside() {
        let mut covered = Covered::default();
        covered.add(10, 20);
        covered.add(2, 5);
        assert_eq!(
            [3, 5, 6, 11, 20, 21].map(|at| covered.back_from(at).covering(at)),
            [Some(2), Some(2), None, Some(10), Some(10), None]
        );
    }
}
