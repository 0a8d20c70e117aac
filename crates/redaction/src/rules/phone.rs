//! Telephone numbers: international by length, national by shape, anything else by its words.

use super::Scanner;
use super::calling_code::is_international;
use super::number::{Clump, Group, Sep, is_embedded, joined_after, joined_before};
use super::phone_extension::{extension_end, has_extension};
use super::phone_shape::{self, Shape};
use crate::Entity;
use crate::context::{Context, Topic};
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, byte_before, count, is_word, run_start};

pub(crate) static INTERNATIONAL: Rule = Rule {
    id: "phone-international",
    rev: 2,
    entity: Entity::Phone,
    strength: Strength::Validated,
    summary: "a plus or 00, a calling code, and as many digits as that country's numbers have",
    matches: &["ring +44 20 79", "46 0958 at noon"],
    rejects: &["about +44 20 79", " people came"],
};

pub(crate) static NATIONAL: Rule = Rule {
    id: "phone-national",
    rev: 2,
    entity: Entity::Phone,
    strength: Strength::Structural,
    summary: "a grouping that hardly anything but a telephone number has: (201) 555-0123, 020 7946 0958",
    matches: &["then (201) 555", "-0123 at noon"],
    rejects: &["then f(201) 555", "-01 at noon"],
};

pub(crate) static CONTEXT: Rule = Rule {
    id: "phone-context",
    rev: 2,
    entity: Entity::Phone,
    strength: Strength::Contextual,
    summary: "six to fifteen digits in any grouping beside a word for telephoning",
    matches: &["call 469", " 34 883 at noon"],
    rejects: &["ticket 469", " 34 883 at noon"],
};

pub(crate) fn at(scanner: &mut Scanner<'_>, clump: &Clump, first: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let groups = clump.groups();
    let start = groups[first].start;
    let (plus, plus_at) = plus_before(bytes, start);
    if first == 0 && plus {
        if let Some(end) = international(scanner, clump, plus_at) {
            return Some(end);
        }
    } else if let Some(end) = idd(scanner, clump, first) {
        return Some(end);
    }
    if phone_shape::is_date(bytes, &groups[first..]) {
        return Some(groups[(first + 2).min(groups.len() - 1)].end);
    }
    national(scanner, clump, first, if plus { plus_at } else { start })
}

/// Where a plus sign that belongs to the number stands.
fn plus_before(bytes: &[u8], start: usize) -> (bool, usize) {
    let gap = if byte_before(bytes, start) == b'(' {
        start - 1
    } else {
        start
    };
    if byte_before(bytes, gap) == b'+' {
        (true, gap - 1)
    } else {
        (false, start)
    }
}

fn international(scanner: &mut Scanner<'_>, clump: &Clump, start: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let groups = clump.groups();
    for to in (1..=groups.len()).rev() {
        let trunk = usize::from(groups[..to].iter().any(|group| {
            group.len() == 1
                && bytes[group.start] == b'0'
                && byte_before(bytes, group.start) == b'('
        }));
        let digits = clump.digits(bytes, 0, to);
        if digits.len() > 16 || !is_international(digits.as_slice(), trunk) {
            continue;
        }
        let end = groups[to - 1].end;
        if to == groups.len()
            && is_embedded(bytes, groups[0].start, end)
            && !has_extension(bytes, end)
        {
            continue;
        }
        let end = close_paren(bytes, start, end);
        let bracketed = byte_before(bytes, start) == b'(' && closes_inside(bytes, &groups[..to]);
        let start = if bracketed { start - 1 } else { start };
        return Some(finish(scanner, &INTERNATIONAL, start, end, 0.94));
    }
    None
}

/// `00` or `011` in place of the plus.
fn idd(scanner: &mut Scanner<'_>, clump: &Clump, first: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let groups = clump.groups();
    let group = groups[first];
    let digits = &bytes[group.start..group.end];
    let prefix = if digits.starts_with(b"00") {
        2
    } else if digits == b"011" && groups.len() > first + 2 {
        3
    } else {
        return None;
    };
    for to in (first + 1..=groups.len()).rev() {
        let all = clump.digits(bytes, first, to);
        if all.len() > 17 || all.len() < 10 || !is_international(&all.as_slice()[prefix..], 0) {
            continue;
        }
        let (start, end) = (group.start, groups[to - 1].end);
        if to == groups.len() && is_embedded(bytes, start, end) && !has_extension(bytes, end) {
            continue;
        }
        if scanner.context(start, end).denies(Topic::Phone) {
            return None;
        }
        return Some(finish(scanner, &INTERNATIONAL, start, end, 0.8));
    }
    None
}

fn national(scanner: &mut Scanner<'_>, clump: &Clump, first: usize, start: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let groups = clump.groups();
    let mut context: Option<Context> = None;
    for to in (first + 1..=groups.len().min(first + 7)).rev() {
        let taken = &groups[first..to];
        let total: usize = taken.iter().map(Group::len).sum();
        if !(6..=15).contains(&total) {
            continue;
        }
        let end = groups[to - 1].end;
        let open = byte_before(bytes, start) == b'(' && closes_inside(bytes, taken);
        let from = if open { start - 1 } else { start };
        if opens_a_remark(&bytes[start..end], open) {
            continue;
        }
        let extended = has_extension(bytes, end);
        if joined_before(bytes, start)
            || (to == groups.len() && !extended && joined_after(bytes, end))
        {
            continue;
        }
        let whole = stands_apart(bytes, groups, first, to);
        let shape = phone_shape::of(bytes, taken, open);
        // A part of a row is no number, and most rows end here, before their words are read.
        if shape == Shape::Never || !whole {
            continue;
        }
        let context = *context.get_or_insert_with(|| scanner.context(from, end));
        if total <= 7 && is_house_number(bytes, end) && !context.tells(Topic::Phone) {
            continue;
        }
        let Some((rule, score)) =
            judge(scanner, shape, context, whole, extended, (from, end), total)
        else {
            continue;
        };
        return Some(finish(scanner, rule, from, end, score));
    }
    None
}

fn judge(
    scanner: &Scanner<'_>,
    shape: Shape,
    context: Context,
    whole: bool,
    extended: bool,
    (from, end): (usize, usize),
    total: usize,
) -> Option<(&'static Rule, f32)> {
    let told = context.says(Topic::Phone);
    let hinted = told || context.says(Topic::PhoneWeak);
    let denied = context.denies(Topic::Phone) && !context.says(Topic::PhoneWeak);
    let bytes = scanner.bytes();
    match shape {
        Shape::Certain if whole && !denied && opens_cleanly(bytes, from) => Some((&NATIONAL, 0.75)),
        Shape::Likely if whole && (!denied || extended) => {
            Some((&NATIONAL, if told { 0.75 } else { 0.55 }))
        }
        Shape::Certain | Shape::Likely | Shape::Possible if told && whole => Some((&CONTEXT, 0.7)),
        Shape::Possible if hinted && whole && total >= 9 => Some((&CONTEXT, 0.55)),
        Shape::Plain if told && whole => Some((&CONTEXT, 0.6)),
        Shape::Plain if hinted && whole && (10..=12).contains(&total) => Some((&CONTEXT, 0.5)),
        Shape::Certain | Shape::Likely | Shape::Possible if scanner.is_bare(from, end) => {
            Some((&CONTEXT, 0.5))
        }
        Shape::Likely | Shape::Possible | Shape::Plain
            if whole && !denied && total <= 11 && ends_address(bytes, from, end) =>
        {
            Some((&CONTEXT, 0.5))
        }
        _ => None,
    }
}

/// Whether a capitalised word follows, as a street follows the number of a house.
fn is_house_number(bytes: &[u8], end: usize) -> bool {
    byte_at(bytes, end) == b' '
        && byte_at(bytes, end + 1).is_ascii_uppercase()
        && byte_at(bytes, end + 2).is_ascii_lowercase()
}

/// Whether the number has a line of its own under a line of words, as in a letterhead.
fn ends_address(bytes: &[u8], from: usize, end: usize) -> bool {
    let Some(above) = from.checked_sub(1).filter(|at| bytes[*at] == b'\n') else {
        return false;
    };
    let line = run_start(bytes, above, above.saturating_sub(48), |byte| byte != b'\n');
    let words = bytes[line..above]
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let alone = matches!(byte_at(bytes, end), 0 | b'\n' | b'\r');
    end - from >= 8 && alone && words >= 4 && line > 0
}

/// A bracketed area code is no call of a function and no index.
fn opens_cleanly(bytes: &[u8], from: usize) -> bool {
    byte_at(bytes, from) != b'(' || !is_word(byte_before(bytes, from))
}

/// Whether more groups stand beside the taken ones as if they belonged to the same row.
fn stands_apart(bytes: &[u8], groups: &[Group], first: usize, to: usize) -> bool {
    let spaced = to - first > 1
        && groups[first..to - 1]
            .iter()
            .all(|group| group.sep == Sep::Space);
    let free = |sep: Sep| sep == Sep::None || (sep == Sep::Space && !spaced);
    // What follows in brackets is a remark: `0800 123 456 (24/7)`.
    let remark = groups[to - 1].sep == Sep::Paren && bytes[groups[to - 1].end..].starts_with(b" (");
    (first == 0 || free(groups[first - 1].sep)) && (free(groups[to - 1].sep) || remark)
}

/// Whether a bracket opens in the number and does not close in it: what is in it is something else.
fn opens_a_remark(number: &[u8], open: bool) -> bool {
    count(number, b'(') + usize::from(open) > count(number, b')')
}

fn closes_inside(bytes: &[u8], taken: &[Group]) -> bool {
    let inner = &bytes[taken[0].start..taken[taken.len() - 1].end];
    let close = memchr::memchr(b')', inner);
    close.is_some_and(|close| memchr::memchr(b'(', &inner[..close]).is_none())
}

fn close_paren(bytes: &[u8], start: usize, end: usize) -> usize {
    let inner = &bytes[start..end];
    let opened = count(inner, b'(');
    let closed = count(inner, b')');
    if opened > closed && byte_at(bytes, end) == b')' {
        end + 1
    } else {
        end
    }
}

fn finish(
    scanner: &mut Scanner<'_>,
    rule: &'static Rule,
    start: usize,
    end: usize,
    score: f32,
) -> usize {
    let end = extension_end(scanner.bytes(), end).unwrap_or(end);
    scanner.push(rule, start, end, score);
    end
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn international_numbers_are_found_in_every_punctuation() {
        for number in [
            "+442079460958",
            "+44 20 7946 0958",
            "+44 (0)20 7946 0958",
            "+1 (415) 555-0132",
            "+1-864-668-1585 ext. 704",
            "+972.2-166-3885",
            "0044 20 7946 0958",
            "001-668-040-8670x1711",
            "+49 30 901820",
            "+46.8.10.09.84",
            "(+49) 30 901820",
            "011 44 20 7946 0958",
        ] {
            let bare = number.trim_start_matches('(');
            let expected = if number.starts_with("(+") {
                number
            } else {
                bare
            };
            finds(&format!("see {number}, thanks"), "PHONE", expected);
        }
    }

    #[test]
    fn national_shapes_need_no_word() {
        for number in [
            "(592)912-8917",
            "875.813.5623",
            "742 582 5773",
            "1-237-957-0918",
            "0121-291-1865",
            "01512 3377843",
            "021 259 20 56",
            "01 23 60 80 04",
            "(81) 3570-7492",
            "06-24312407",
            "(044)688-7538x8775",
        ] {
            finds(&format!("Linda ({number}) then"), "PHONE", number);
            finds(&format!("Linda, {number}; then"), "PHONE", number);
        }
    }

    #[test]
    fn anything_beside_a_word_for_telephoning_is_found() {
        for number in [
            "455 6186",
            "50-98-28-96",
            "92 34 70",
            "9469 9966",
            "5551234567",
            "469 34 883",
        ] {
            finds(&format!("you can call {number}"), "PHONE", number);
            finds(&format!("{number} office"), "PHONE", number);
            finds(&format!("Phone: {number}"), "PHONE", number);
        }
    }

    #[test]
    fn a_remark_in_brackets_behind_a_number_is_no_part_of_it() {
        for number in ["48-1761-6596", "036651802", "(04768) 77656", "882 331 792"] {
            finds(&format!("hotline: {number} (24/7)"), "PHONE", number);
        }
    }

    #[test]
    fn the_first_figures_of_an_id_are_no_number_beside_another_one() {
        let text =
            "{\"phone\":\"020 7946 0958\",\"session\":\"53439117-61a1-9ef3-e1e4-1582dac3bb65\"}";
        assert_eq!(crate::testing::types(text), ["PHONE"]);
        nothing("{\"routing\":\"50109959045\",\"note\":\"Cell including\"}");
    }

    #[test]
    fn a_number_with_another_name_is_left_alone() {
        for text in [
            "my bank account number is 1234567891",
            "order number is 4155550132",
            "the order number 12 3456 7890",
            "4155550132 is the order number",
        ] {
            nothing(text);
        }
        finds("4155550132 is my phone number", "PHONE", "4155550132");
        finds("455 6186 is my number", "PHONE", "455 6186");
    }

    #[test]
    fn rows_of_figures_dates_and_amounts_are_left_alone() {
        for text in [
            "epochs 885 611 204 199 833",
            "on 2016-11-18 03:38:05",
            "sku 539-45889-03",
            "in 1999-2004",
            "call at 12/27/1947",
            "total 1,157,000",
            "id 4471-2291-11-20",
            "zip 95378-6027",
        ] {
            nothing(text);
        }
    }
}
