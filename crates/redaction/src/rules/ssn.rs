//! United States social security and taxpayer numbers.

use super::Scanner;
use super::number::{Clump, Sep, is_embedded};
use crate::Entity;
use crate::context::Topic;
use crate::rule::{Rule, Strength};

pub(crate) static SSN_DASHED: Rule = Rule {
    id: "us-ssn-dashed",
    rev: 2,
    entity: Entity::UsSsn,
    strength: Strength::Structural,
    summary: "three, two and four digits joined by dashes, in an area that is issued",
    matches: &["he wrote 536-90", "-4399 on the form"],
    rejects: &["he wrote 000-90", "-4399 on the form"],
};

pub(crate) static SSN_CONTEXT: Rule = Rule {
    id: "us-ssn-context",
    rev: 2,
    entity: Entity::UsSsn,
    strength: Strength::Contextual,
    summary: "nine digits in any grouping beside words for social security, or alone in the text",
    matches: &["my social is 536 90", " 4399"],
    rejects: &["our order is 536 90", " 4399"],
};

pub(crate) static ITIN: Rule = Rule {
    id: "us-itin",
    rev: 2,
    entity: Entity::UsItin,
    strength: Strength::Structural,
    summary: "nine digits that start with 9 and have an assigned middle pair, dashed or beside a tax word",
    matches: &["use 912-70", "-1234 as the number"],
    rejects: &["use 912-10", "-1234 as the number"],
};

pub(crate) fn at(scanner: &mut Scanner<'_>, clump: &Clump, first: usize) -> Option<usize> {
    let groups = &clump.groups()[first..];
    let len = |at: usize| groups.get(at).map_or(0, super::number::Group::len);
    let (taken, sep) = match (len(0), len(1), len(2)) {
        (3, 2, 4) if groups[0].sep == groups[1].sep => (3, groups[0].sep),
        (5, 4, _) | (3, 6, _) => (2, groups[0].sep),
        (9, _, _) => (1, Sep::None),
        _ => return None,
    };
    if !matches!(sep, Sep::None | Sep::Space | Sep::Dash | Sep::Dot) {
        return None;
    }
    let (start, end) = (groups[0].start, groups[taken - 1].end);
    let joined_on = groups.len() > taken && matches!(groups[taken - 1].sep, Sep::Dash | Sep::Dot);
    let joined_before = first > 0 && matches!(clump.groups()[first - 1].sep, Sep::Dash | Sep::Dot);
    if joined_on
        || joined_before
        || (groups.len() == taken && is_embedded(scanner.bytes(), start, end))
    {
        return None;
    }
    let digits = clump.digits(scanner.bytes(), first, first + taken);
    let d = digits.as_slice();
    let (area, pair, serial) = (digits.prefix(3), d[3] * 10 + d[4], &d[5..]);
    if d.iter().all(|digit| *digit == d[0]) || serial == [0; 4] || pair == 0 {
        return None;
    }
    let dashed = taken == 3 && sep == Sep::Dash;
    let context = scanner.context(start, end);
    if area >= 900 {
        let assigned = matches!(pair, 50..=65 | 70..=88 | 90..=92 | 94..=99);
        let told =
            context.says(Topic::Itin) || context.says(Topic::Ssn) || scanner.is_bare(start, end);
        if !assigned || !(told || dashed && !context.denies(Topic::Itin)) {
            return None;
        }
        scanner.push(&ITIN, start, end, if told { 0.85 } else { 0.6 });
        return Some(end);
    }
    let told = context.says(Topic::Ssn);
    if area == 0 || area == 666 || (is_famous(d) && !told) {
        return None;
    }
    if told || scanner.is_bare(start, end) {
        let rule = if dashed { &SSN_DASHED } else { &SSN_CONTEXT };
        scanner.push(rule, start, end, if told { 0.9 } else { 0.5 });
        return Some(end);
    }
    if dashed && !context.denies(Topic::Ssn) && !context.says(Topic::Phone) {
        scanner.push(&SSN_DASHED, start, end, 0.7);
        return Some(end);
    }
    None
}

/// Numbers from advertisements and manuals that were never anybody's.
fn is_famous(digits: &[u8]) -> bool {
    matches!(
        digits,
        [1, 2, 3, 4, 5, 6, 7, 8, 9]
            | [0, 7, 8, 0, 5, 1, 1, 2, 0]
            | [2, 1, 9, 0, 9, 9, 9, 9, 9]
            | [9, 8, 7, 6, 5, 4, 3, 2, _]
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn every_usual_grouping_is_found_beside_its_word() {
        for number in [
            "536-90-4399",
            "536 90 4399",
            "536.90.4399",
            "536904399",
            "536-904399",
            "53690-4399",
        ] {
            finds(&format!("SSN: {number}"), "US_SSN", number);
            finds(&format!("{{\"ssn\":\"{number}\"}}"), "US_SSN", number);
        }
    }

    #[test]
    fn mixed_separators_and_unissued_areas_are_no_number() {
        for text in [
            "ssn 666-12-3456",
            "ssn 536-00-4399",
            "ssn 536-90-0000",
            "ssn 536-90.4399",
        ] {
            nothing(text);
        }
    }

    #[test]
    fn a_taxpayer_number_is_not_a_social_security_number() {
        finds("my ITIN is 911-70-1234", "US_ITIN", "911-70-1234");
        nothing("EIN 12-3456789");
    }
}
