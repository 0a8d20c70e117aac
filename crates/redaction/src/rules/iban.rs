//! International bank account numbers: country, length and checksum.

use super::Scanner;
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{byte_before, ends_token, is_word, run_end, starts_token};

pub(crate) static IBAN: Rule = Rule {
    id: "iban",
    rev: 1,
    entity: Entity::Iban,
    strength: Strength::Validated,
    summary: "a country of the registry, its length, and a checksum of 1, in one piece or in groups",
    matches: &["to DE89 3704 0044", " 0532 0130 00 please"],
    rejects: &["to DE88 3704 0044", " 0532 0130 00 please"],
};

/// Country codes and lengths, from the public registry.
const LENGTHS: &[u8] =
    b"AD24AE23AL28AO25AT20AZ28BA20BE16BF28BG22BH22BI27BJ28BR29BY28CF27CG27CH21CI28CM27\
CR22CV25CY28CZ24DE22DJ27DK18DO28DZ26EE20EG29ES24FI18FK18FO18FR27GA27GB22GE22GI23GL18GQ27GR27GT28\
GW25HN28HR21HU28IE22IL23IQ23IR26IS26IT27JO30KM27KW30KZ20LB28LC32LI21LT20LU20LV21LY25MA28MC27MD24\
ME22MG27MK19ML28MN20MR27MT31MU30MZ25NE28NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31\
SD18SE24SI19SK24SM27SN28SO23ST25SV28TD27TG28TL23TN24TR26UA29VA22VG24XK20YE30";

fn length_of(country: [u8; 2]) -> Option<usize> {
    let country = country.map(|letter| letter.to_ascii_uppercase());
    LENGTHS
        .chunks_exact(4)
        .find(|entry| entry[..2] == country)
        .map(|entry| usize::from(entry[2] - b'0') * 10 + usize::from(entry[3] - b'0'))
}

/// Tries an IBAN whose check digits start at `digit`, and answers where it ends.
pub(crate) fn before_digit(scanner: &mut Scanner<'_>, digit: usize) -> Option<usize> {
    let bytes = scanner.bytes();
    let first = |at: usize| bytes[at].is_ascii_alphabetic() && bytes[at + 1].is_ascii_alphabetic();
    let starts = [digit.checked_sub(2), digit.checked_sub(3)];
    let start = starts.into_iter().flatten().find(|start| {
        first(*start) && (start + 2 == digit || matches!(bytes[start + 2], b' ' | b'-'))
    })?;
    // An escaped line break before the country code leaves its letter in front of it.
    if !starts_token(bytes, start)
        || byte_before(bytes, start) == b'-' && start > 1 && is_word(bytes[start - 2])
    {
        return None;
    }
    let length = length_of([bytes[start], bytes[start + 1]])?;
    let registered = read(bytes, start, length)
        .filter(|end| ends_token(bytes, *end) && is_grouped(&bytes[start..*end]));
    // In one piece a digit more or less is a slip, not another kind of number: the checksum tells.
    let end = registered
        .filter(|end| checksum(&bytes[start..*end]))
        .or_else(|| {
            let end = run_end(bytes, start, 36, |byte| byte.is_ascii_alphanumeric());
            let near = (length - 1..=length + 1).contains(&(end - start));
            (near && ends_token(bytes, end) && checksum(&bytes[start..end])).then_some(end)
        })?;
    scanner.push(&IBAN, start, end, 1.0);
    Some(end)
}

/// Whether the groups are of four, as printed, or there is no small letter in them: without that a
/// few words behind a postal code would do.
fn is_grouped(text: &[u8]) -> bool {
    let groups: Vec<usize> = text
        .split(|byte| !byte.is_ascii_alphanumeric())
        .map(<[u8]>::len)
        .collect();
    let body = groups.strip_prefix(&[2, 2]).unwrap_or(&groups);
    let fours = body
        .split_last()
        .is_none_or(|(last, rest)| *last <= 4 && rest.iter().all(|len| *len == 4));
    let plain = groups[0] >= 4 && !text.iter().any(u8::is_ascii_lowercase);
    groups.len() == 1 || fours || plain
}

/// End of the `length`th letter or digit, with at most one separator between two of them.
fn read(bytes: &[u8], start: usize, length: usize) -> Option<usize> {
    let mut at = start;
    let mut count = 0;
    while count < length {
        let byte = *bytes.get(at)?;
        if byte.is_ascii_alphanumeric() {
            count += 1;
        } else if !matches!(byte, b' ' | b'-' | b'.') || !bytes[at - 1].is_ascii_alphanumeric() {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// ISO 7064 mod 97-10 over the text with its first four characters moved to the end.
fn checksum(text: &[u8]) -> bool {
    let plain = || text.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let sum = plain()
        .skip(4)
        .chain(plain().take(4))
        .fold(0_u32, |sum, byte| match byte {
            b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
            _ => (sum * 100 + u32::from(byte.to_ascii_uppercase() - b'A') + 10) % 97,
        });
    sum == 1
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn every_way_of_writing_it_is_found() {
        for iban in [
            "DE89370400440532013000",
            "de89370400440532013000",
            "DE89-3704-0044-0532-0130-00",
            "GB29 NWBK 6016 1331 9268 19",
            "AL47 2121 1009 0000 0002 3569 8741",
            "NO9386011117947",
            "MT84MALT011000012345MTLCAST001S",
            "VG96 VPVG 0000 0123 4567 8901",
        ] {
            finds(&format!("pay to {iban} X today"), "IBAN", iban);
            finds(&format!("IBAN:{iban}."), "IBAN", iban);
        }
    }

    #[test]
    fn a_wrong_checksum_or_length_is_none() {
        nothing("AL47 212A 1009 0000 0002 3569 8741");
        nothing("GB29NWBK6016133192681912");
        nothing("Arsoyport, MN 63111 since 2001-03-01 and on");
    }
}
