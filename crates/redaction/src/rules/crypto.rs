//! Addresses of crypto currencies: base58check, bech32, and the hex form.

use sha2::{Digest, Sha256};

use super::Scanner;
use crate::Entity;
use crate::rule::{Rule, Strength};
use crate::text::{ends_token, is_word, run_end};

pub(crate) static BASE58: Rule = Rule {
    id: "crypto-base58",
    rev: 1,
    entity: Entity::Crypto,
    strength: Strength::Validated,
    summary: "an address that starts with 1 or 3 and passes its double hash",
    matches: &["send to 1BvBMSEYstWetqTFn5", "Au4m4GFg7xJaNVN2 now"],
    rejects: &["send to 1BvBMSEYstWetqTFn5", "Au4m4GFg7xJaNVN3 now"],
};

pub(crate) static BECH32: Rule = Rule {
    id: "crypto-bech32",
    rev: 1,
    entity: Entity::Crypto,
    strength: Strength::Validated,
    summary: "an address with a human-readable part, a 1 and a checksum of its own",
    matches: &["send to bc1qar0srrr7xfkvy5l6", "43lydnw9re59gtzzwf5mdq now"],
    rejects: &["send to bc1qar0srrr7xfkvy5l6", "43lydnw9re59gtzzwf5mdp now"],
};

pub(crate) static HEX: Rule = Rule {
    id: "crypto-hex",
    rev: 1,
    entity: Entity::Crypto,
    strength: Strength::Structural,
    summary: "0x and forty hex digits, the form of Ethereum and its relatives",
    matches: &["send to 0x52908400098527886E0F", "7030069857D2E4169EE7 now"],
    rejects: &["send to 0x52908400098527886E0F", "7030069857D2E4169EE now"],
};

/// Tries the word that starts at `start` with a digit.
pub(crate) fn word(scanner: &mut Scanner<'_>, start: usize) {
    let bytes = scanner.bytes();
    let end = run_end(bytes, start, 64, is_word);
    let text = &bytes[start..end];
    match (text.len(), text[0]) {
        (26..=35, b'1' | b'3') if base58check(text) => scanner.push(&BASE58, start, end, 1.0),
        (42, b'0') if text[1] == b'x' && is_address(&text[2..]) => {
            scanner.push(&HEX, start, end, 0.75);
        }
        _ => {}
    }
}

fn is_address(hex: &[u8]) -> bool {
    hex.iter().all(u8::is_ascii_hexdigit) && hex.iter().any(|byte| *byte != hex[0])
}

/// Tries the bech32 address whose human-readable part was seen at `start`.
pub(crate) fn bech32(scanner: &mut Scanner<'_>, start: usize, readable: usize) {
    let bytes = scanner.bytes();
    let end = run_end(bytes, start, 92, |byte| byte.is_ascii_alphanumeric());
    if end - start >= 14 && ends_token(bytes, end) && bech32_checksum(&bytes[start..end], readable)
    {
        scanner.push(&BECH32, start, end, 1.0);
    }
}

fn base58check(text: &[u8]) -> bool {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut number = [0_u8; 25];
    for byte in text {
        let Some(value) = ALPHABET.iter().position(|letter| letter == byte) else {
            return false;
        };
        let mut carry = u32::try_from(value).unwrap_or(0);
        for place in number.iter_mut().rev() {
            carry += u32::from(*place) * 58;
            *place = (carry & 0xFF) as u8;
            carry >>= 8;
        }
        if carry != 0 {
            return false;
        }
    }
    let hash = Sha256::digest(Sha256::digest(&number[..21]));
    hash[..4] == number[21..]
}

/// The checksum of BIP 173 (constant 1) or BIP 350.
fn bech32_checksum(text: &[u8], readable: usize) -> bool {
    const ALPHABET: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const GENERATORS: [u32; 5] = [
        0x3b6a_57b2,
        0x2650_8e6d,
        0x1ea1_19fa,
        0x3d42_33dd,
        0x2a14_62b3,
    ];
    let mixed = text.iter().any(u8::is_ascii_lowercase) && text.iter().any(u8::is_ascii_uppercase);
    let step = |sum: u32, value: u32| {
        let top = sum >> 25;
        let shifted = ((sum & 0x01ff_ffff) << 5) ^ value;
        (0..5)
            .filter(|bit| top >> bit & 1 == 1)
            .fold(shifted, |sum, bit| sum ^ GENERATORS[bit])
    };
    let lower = |byte: &u8| byte.to_ascii_lowercase();
    let high = text[..readable]
        .iter()
        .map(|byte| u32::from(lower(byte) >> 5));
    let low = text[..readable]
        .iter()
        .map(|byte| u32::from(lower(byte) & 31));
    let mut sum = high.chain([0]).chain(low).fold(1, step);
    for byte in &text[readable + 1..] {
        let Some(value) = ALPHABET.iter().position(|letter| *letter == lower(byte)) else {
            return false;
        };
        sum = step(sum, u32::try_from(value).unwrap_or(0));
    }
    !mixed && (sum == 1 || sum == 0x2bc8_30a3)
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn addresses_with_a_right_checksum_are_found() {
        for address in [
            "16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ",
            "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
            "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
            "bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297",
        ] {
            finds(&format!("wallet {address}, thanks"), "CRYPTO", address);
        }
    }

    #[test]
    fn a_wrong_checksum_is_none() {
        nothing("16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyA");
        nothing("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mda");
    }
}
