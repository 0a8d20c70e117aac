//! How much the grouping of digits alone looks like a telephone number.

use super::number::{Group, Sep};

/// What a grouping tells without any word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Hardly anything else is written so.
    Certain,
    /// Usual for a telephone number, and for little else of that length.
    Likely,
    /// A local number, or a list of figures.
    Possible,
    /// One run of digits.
    Plain,
    /// A decimal, a range, a code: never a telephone number.
    Never,
}

pub(crate) fn of(bytes: &[u8], groups: &[Group], open: bool) -> Shape {
    // Single digits in a row are a list; most of what is asked about ends here.
    if groups.iter().filter(|group| group.len() == 1).count() > 2 {
        return Shape::Never;
    }
    let lengths: Vec<usize> = groups.iter().map(Group::len).collect();
    let total: usize = lengths.iter().sum();
    if lengths.len() == 1 {
        let digits = &bytes[groups[0].start..groups[0].end];
        return if total >= 7 && !is_counting(digits) {
            Shape::Plain
        } else {
            Shape::Never
        };
    }
    let seps = &groups[..groups.len() - 1];
    if open {
        return bracketed(&lengths, total);
    }
    if seps.iter().any(|group| group.sep == Sep::Paren) && !trunk_in_brackets(bytes, groups) {
        // A trunk digit before the bracket: `1 (201) 555-0123`, `8 (495) 123-45-67`.
        let trunk = matches!(bytes[groups[0].start], b'0' | b'1' | b'8') && lengths[0] == 1;
        let certain = trunk && matches!(lengths[1..], [3, 3, 4] | [3, 3, 2, 2] | [3, 7]);
        let local = lengths.len() <= 6 && total <= 13;
        return match (certain, local) {
            (true, _) => Shape::Certain,
            (false, true) => Shape::Possible,
            (false, false) => Shape::Never,
        };
    }
    if let Some(shape) = north_american(bytes, groups, &lengths) {
        return shape;
    }
    let dotted = seps.iter().any(|group| group.sep == Sep::Dot);
    let decimal = lengths.len() < 3 && lengths.iter().any(|len| *len < 3);
    if dotted && (decimal || lengths.iter().any(|len| *len > 4)) {
        return Shape::Never;
    }
    let zero =
        bytes[groups[0].start] == b'0' && bytes[groups[0].start + 1] != b'0' && lengths[0] > 1;
    let blocks = lengths.len() <= 6 && lengths.iter().skip(1).all(|len| (2..=8).contains(len));
    // A postal code with its extension looks alike.
    let postal = lengths == [5, 4] && groups[0].sep == Sep::Dash;
    if zero && blocks && (9..=12).contains(&total) && lengths[0] <= 5 && !postal {
        return if uniform(groups) {
            Shape::Likely
        } else {
            Shape::Possible
        };
    }
    let single = lengths.iter().filter(|len| **len == 1).count();
    let local = lengths.iter().all(|len| *len <= 8) && single <= 1 && lengths.len() <= 5;
    if local { Shape::Possible } else { Shape::Never }
}

/// `0123456789` and the like: somebody counts.
fn is_counting(digits: &[u8]) -> bool {
    let up = digits.windows(2).all(|pair| pair[1] == pair[0] + 1);
    up || digits.windows(2).all(|pair| pair[0] == pair[1] + 1)
}

/// `(12) 3456-7890`: an area code in brackets and at least six digits behind it.
fn bracketed(lengths: &[usize], total: usize) -> Shape {
    let area = (2..=5).contains(&lengths[0]);
    let blocks = lengths.iter().skip(1).all(|len| (2..=9).contains(len)) && lengths.len() <= 5;
    if area && blocks && (8..=13).contains(&total) {
        Shape::Certain
    } else {
        Shape::Never
    }
}

fn north_american(bytes: &[u8], groups: &[Group], lengths: &[usize]) -> Option<Shape> {
    let seps: Vec<Sep> = groups[..groups.len() - 1]
        .iter()
        .map(|group| group.sep)
        .collect();
    let body = match lengths {
        [3, 3, 4] => &seps[..],
        [1, 3, 3, 4] if bytes[groups[0].start] == b'1' => &seps[1..],
        _ => return None,
    };
    match body {
        [Sep::Dash | Sep::Space | Sep::Slash, Sep::Dash] | [Sep::Dot, Sep::Dot] => {
            Some(Shape::Certain)
        }
        [Sep::Space | Sep::Dash, Sep::Space] | [Sep::Slash, Sep::Slash] => Some(Shape::Likely),
        _ => None,
    }
}

/// One kind of separator, or one that sets the area code off and another behind it.
fn uniform(groups: &[Group]) -> bool {
    let seps = &groups[..groups.len() - 1];
    let rest = &seps[1..];
    rest.iter().all(|group| group.sep == rest[0].sep)
}

fn trunk_in_brackets(bytes: &[u8], groups: &[Group]) -> bool {
    groups
        .iter()
        .any(|group| group.len() == 1 && bytes[group.start] == b'0' && group.sep == Sep::Paren)
}

/// Whether the groups begin with a calendar date or a span of years.
pub(crate) fn is_date(bytes: &[u8], groups: &[Group]) -> bool {
    let value = |group: &Group| {
        bytes[group.start..group.end]
            .iter()
            .fold(0_u32, |sum, digit| {
                sum.saturating_mul(10) + u32::from(digit - b'0')
            })
    };
    let year = |group: &Group| group.len() == 4 && (1800..=2199).contains(&value(group));
    let day = |group: &Group| group.len() <= 2 && (1..=31).contains(&value(group));
    match groups {
        [a, b, c, ..] if a.sep == b.sep && a.sep != Sep::Space => {
            (year(a) && day(b) && day(c)) || (day(a) && day(b) && year(c))
        }
        [a, b] => year(a) && year(b),
        _ => false,
    }
}
