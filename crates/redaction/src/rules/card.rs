//! Payment cards: issuer range, length and check digit.

use super::Scanner;
use super::number::{Clump, Digits, Sep, is_embedded};
use crate::Entity;
use crate::context::Topic;
use crate::rule::{Rule, Strength};

pub(crate) static CARD: Rule = Rule {
    id: "credit-card",
    rev: 2,
    entity: Entity::CreditCard,
    strength: Strength::Validated,
    summary: "12 to 19 digits in a current issuer range with a right check digit, and no word that says otherwise",
    matches: &["pay with 4111 1111", " 1111 1111 please"],
    rejects: &["pay with 4111 1111", " 1111 1112 please"],
};

/// Issuer ranges: first and last prefix, and the lengths issued. From the networks' public tables.
const ISSUERS: &[(u32, u32, u32)] = &[
    // Universal Air Travel Plan
    (1, 1, lens(&[15])),
    // Mir, Borica
    (2200, 2205, lens(&[16, 17, 18, 19])),
    // Mastercard, series 2 and 5
    (2221, 2720, lens(&[16])),
    (51, 55, lens(&[16])),
    // Diners Club
    (300, 305, lens(&[14, 15, 16, 17, 18, 19])),
    (3095, 3095, lens(&[14, 15, 16, 17, 18, 19])),
    (36, 36, lens(&[14, 15, 16, 17, 18, 19])),
    (38, 39, lens(&[14, 15, 16, 17, 18, 19])),
    // American Express
    (34, 34, lens(&[15])),
    (37, 37, lens(&[15])),
    // JCB, and RuPay, Troy and LankaPay beside it
    (1800, 1800, lens(&[15])),
    (2131, 2131, lens(&[15])),
    (3528, 3589, lens(&[15, 16, 17, 18, 19])),
    (35, 35, lens(&[16])),
    // Hipercard
    (3841, 3841, lens(&[13, 16, 19])),
    // Visa, Visa Electron, Elo, Switch
    (4, 4, lens(&[13, 16, 18, 19])),
    // Maestro, Dankort, Verve, Elo, RuPay
    (50, 50, lens(&[12, 13, 14, 15, 16, 17, 18, 19])),
    (56, 59, lens(&[12, 13, 14, 15, 16, 17, 18, 19])),
    (604, 604, lens(&[12])),
    // Discover, UnionPay, Maestro, Hipercard, Troy, InstaPayment, InterPayment
    (60, 69, lens(&[12, 13, 14, 15, 16, 17, 18, 19])),
    (81, 82, lens(&[16, 17, 18, 19])),
    // Uzcard, Troy, Humo
    (8600, 8600, lens(&[16])),
    (9792, 9792, lens(&[16])),
    (9860, 9860, lens(&[16])),
];

const fn lens(lengths: &[u32]) -> u32 {
    let mut mask = 0;
    let mut at = 0;
    while at < lengths.len() {
        mask |= 1 << lengths[at];
        at += 1;
    }
    mask
}

pub(crate) fn at(scanner: &mut Scanner<'_>, clump: &Clump, first: usize) -> Option<usize> {
    let groups = clump.groups();
    let mut total = 0;
    let mut best = None;
    for (offset, group) in groups[first..].iter().enumerate() {
        total += group.len();
        if total > 19 {
            break;
        }
        let last = first + offset;
        if total >= 12 && is_card(scanner, clump, first, last + 1) {
            best = Some(last);
            // Sixteen digits in fours are whole; what follows is a code or the next card.
            if total == 16 {
                break;
            }
        }
        if !matches!(group.sep, Sep::Space | Sep::Dash | Sep::Dot) || group.sep != groups[first].sep
        {
            break;
        }
    }
    let last = best?;
    let (start, end) = (groups[first].start, groups[last].end);
    let context = scanner.context(start, end);
    let sure = context.says(Topic::Card);
    if !sure && (context.denies(Topic::Card) || !stands_without_a_word(scanner, clump, first, last))
    {
        return None;
    }
    scanner.push(&CARD, start, end, if sure { 1.0 } else { 0.9 });
    Some(end)
}

fn is_card(scanner: &Scanner<'_>, clump: &Clump, from: usize, to: usize) -> bool {
    let bytes = scanner.bytes();
    let groups = &clump.groups()[from..to];
    let (start, end) = (groups[0].start, groups[groups.len() - 1].end);
    let digits = clump.digits(bytes, from, to);
    let tail_free = to == clump.groups().len() && !is_embedded(bytes, start, end)
        || to < clump.groups().len() && clump.groups()[to - 1].sep != Sep::Dot;
    tail_free
        && grouping_is_plausible(groups)
        && luhn(digits.as_slice())
        && (issued(&digits) || is_told(scanner, start, end, digits.len()))
}

/// Issuer ranges come and go; beside a word for cards the check digit is enough.
fn is_told(scanner: &Scanner<'_>, start: usize, end: usize, len: usize) -> bool {
    len >= 13 && scanner.context(start, end).says(Topic::Card)
}

/// Cards are printed in fours, or 4-6-5 and 4-6-4; people also type them in one piece.
fn grouping_is_plausible(groups: &[super::number::Group]) -> bool {
    if groups.len() == 1 {
        return true;
    }
    let lengths: Vec<usize> = groups.iter().map(super::number::Group::len).collect();
    matches!(
        lengths.as_slice(),
        [4, 6, 5 | 4] | [4, 5, 6] | [6, 13 | 6 | 10] | [8, 8] | [4, 12]
    ) || lengths[..lengths.len() - 1].iter().all(|len| *len == 4) && lengths[lengths.len() - 1] <= 4
}

/// Without a word beside it, only the common lengths stand: a 12-digit or 15-digit number of a rare
/// range is more often an identifier.
fn stands_without_a_word(scanner: &Scanner<'_>, clump: &Clump, first: usize, last: usize) -> bool {
    let digits = clump.digits(scanner.bytes(), first, last + 1);
    let (start, end) = (clump.groups()[first].start, clump.groups()[last].end);
    if scanner.is_bare(start, end) {
        return true;
    }
    let leading = digits.prefix(2);
    match digits.len() {
        14 => {
            leading == 36 || (38..=39).contains(&leading) || (300..=305).contains(&digits.prefix(3))
        }
        15 => leading == 34 || leading == 37,
        13 => leading / 10 == 4 && first != last,
        16 | 19 => true,
        _ => false,
    }
}

fn issued(digits: &Digits) -> bool {
    // Maestro's 0604 is the one range with a leading zero.
    if digits.as_slice().first() == Some(&0) {
        return digits.prefix(4) == 604 && digits.len() == 12;
    }
    ISSUERS.iter().any(|(from, to, lengths)| {
        let prefix = digits.prefix(from.ilog10() as usize + 1);
        (*from..=*to).contains(&prefix) && lengths & (1 << digits.len()) != 0
    })
}

/// The check digit of ISO/IEC 7812, and not a run of one digit.
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(*digit);
            match (at % 2, digit * 2) {
                (0, _) => digit,
                (_, double) if double > 9 => double - 9,
                (_, double) => double,
            }
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != digits[0])
}

#[cfg(test)]
mod tests {
    use super::luhn;
    use crate::testing::{finds, nothing};

    #[test]
    fn cards_of_every_network_are_found_in_every_usual_grouping() {
        for card in [
            "378282246310005",
            "3714 496353 98431",
            "30569309025904",
            "3056 930902 5904",
            "6011111111111117",
            "3530111333300000",
            "5555-5555-5555-4444",
            "2223003122003222",
            "4222222222222 cvv 12",
            "6304000000000000",
            "5019717010103742",
            "6200 0000 0000 0005",
            "2200 0000 0000 0053",
            "6759649826438453",
        ] {
            let number = card.split(" cvv").next().unwrap();
            finds(&format!("my card: {card}."), "CREDIT_CARD", number);
        }
    }

    #[test]
    fn a_list_of_cards_is_a_list_of_spans() {
        finds(
            "4012888888881881 4012-8888-8888-1881 4012 8888 8888 1881",
            "CREDIT_CARD",
            "4012-8888-8888-1881",
        );
        finds(
            "4012888888881881 4012-8888-8888-1881 4012 8888 8888 1881",
            "CREDIT_CARD",
            "4012 8888 8888 1881",
        );
    }

    #[test]
    fn an_identifier_that_happens_to_pass_is_left_alone() {
        nothing("order number 4111111111111111");
        nothing("0.4111111111111111");
    }

    #[test]
    fn one_wrong_digit_fails_the_check() {
        assert!(luhn(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2]));
        assert!(!luhn(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 3]));
    }
}
