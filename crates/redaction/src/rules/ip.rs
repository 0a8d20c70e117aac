//! Network addresses of both versions, with prefix length or zone.

use std::net::Ipv6Addr;

use super::Scanner;
use super::number::{Clump, Sep};
use crate::Entity;
use crate::context::Topic;
use crate::rule::{Rule, Strength};
use crate::text::{byte_at, byte_before, ends_token, is_word, run_end, run_start, starts_token};

pub(crate) static IPV4: Rule = Rule {
    id: "ipv4",
    rev: 1,
    entity: Entity::Ip,
    strength: Strength::Structural,
    summary: "four decimal groups up to 255, with an optional prefix length, that no word calls a version",
    matches: &["from 203.0", ".113.7 today"],
    rejects: &["version 203.0", ".113.7 today"],
};

pub(crate) static IPV6: Rule = Rule {
    id: "ipv6",
    rev: 1,
    entity: Entity::Ip,
    strength: Strength::Validated,
    summary: "eight groups of hex digits, or fewer around a double colon, with an optional zone or prefix length",
    matches: &["from 2001:db8", "::8a2e today"],
    rejects: &["from std", "::fmt at 12:30:45 today"],
};

/// The longest text an IPv6 address can have with its zone and prefix length left out.
const LONGEST: usize = 48;

pub(crate) fn v4(scanner: &mut Scanner<'_>, clump: &Clump, first: usize) -> Option<usize> {
    let groups = clump.groups().get(first..first + 4)?;
    let dotted = groups[..3].iter().all(|group| group.sep == Sep::Dot);
    if !dotted || groups[3].sep == Sep::Dot || groups.iter().any(|group| group.len() > 3) {
        return None;
    }
    let bytes = scanner.bytes();
    let (start, mut end) = (groups[0].start, groups[3].end);
    if first > 0 && clump.groups()[first - 1].sep == Sep::Dot
        || groups.iter().any(|group| {
            bytes[group.start..group.end]
                .iter()
                .fold(0, |sum, d| sum * 10 + u32::from(d - b'0'))
                > 255
        })
        || !ends_token(bytes, end)
        || matches!(byte_before(bytes, start), b'.' | b'-' | b'$')
    {
        return None;
    }
    let context = scanner.context(start, end);
    if context.has(Topic::Version) && !context.has(Topic::Network) {
        return Some(end);
    }
    end = prefix_length(bytes, end, 32).unwrap_or(end);
    scanner.push(
        &IPV4,
        start,
        end,
        if context.has(Topic::Network) {
            0.95
        } else {
            0.7
        },
    );
    Some(end)
}

/// Handles a colon: reads the run of hex digits and colons around it once.
pub(crate) fn colon(scanner: &mut Scanner<'_>, at: usize) -> usize {
    let bytes = scanner.bytes();
    let hexish = |byte: u8| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.';
    let start = run_start(bytes, at, at.saturating_sub(4), |byte| {
        byte.is_ascii_hexdigit()
    });
    let mut end = run_end(bytes, at, LONGEST, hexish);
    while end > at + 1
        && (bytes[end - 1] == b'.' || bytes[end - 1] == b':' && !bytes[..end].ends_with(b"::"))
    {
        end -= 1;
    }
    let free = starts_token(bytes, start)
        && !matches!(byte_before(bytes, start), b':' | b'.')
        && ends_token(bytes, end);
    if free && end - start >= 3 && accepts(scanner, start, end) {
        let zone_end = zone(bytes, end);
        let end = prefix_length(bytes, zone_end, 128).unwrap_or(zone_end);
        scanner.push(&IPV6, start, end, 0.95);
        return end;
    }
    // Long runs of colons are read once.
    run_end(bytes, at, usize::MAX, |byte| byte == b':')
}

fn accepts(scanner: &Scanner<'_>, start: usize, end: usize) -> bool {
    let text = &scanner.text()[start..end];
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    let has_figure = text.bytes().any(|byte| byte.is_ascii_digit());
    let colons = text.bytes().filter(|byte| *byte == b':').count();
    if colons < 2 || !has_figure || text.parse::<Ipv6Addr>().is_err() {
        return false;
    }
    // `1::2` is a slice in some languages: little text needs a word, or the loopback's own form.
    digits >= 6 || text == "::1" || scanner.context(start, end).has(Topic::Network)
}

fn zone(bytes: &[u8], end: usize) -> usize {
    if byte_at(bytes, end) != b'%' {
        return end;
    }
    let stop = run_end(bytes, end + 1, 16, |byte| {
        is_word(byte) || byte == b'-' || byte == b'.'
    });
    if stop > end + 1 { stop } else { end }
}

fn prefix_length(bytes: &[u8], end: usize, most: u32) -> Option<usize> {
    if byte_at(bytes, end) != b'/' {
        return None;
    }
    let stop = run_end(bytes, end + 1, 4, |byte| byte.is_ascii_digit());
    let value = std::str::from_utf8(&bytes[end + 1..stop])
        .ok()?
        .parse::<u32>()
        .ok()?;
    (value <= most && ends_token(bytes, stop) && byte_at(bytes, stop) != b'/').then_some(stop)
}

#[cfg(test)]
mod tests {
    use crate::testing::{finds, nothing};

    #[test]
    fn addresses_are_found_with_what_belongs_to_them() {
        finds("microsoft.com 192.168.0.1", "IP", "192.168.0.1");
        finds("route 10.0.0.0/8 there", "IP", "10.0.0.0/8");
        finds("at 203.0.113.7:8080.", "IP", "203.0.113.7");
        finds(
            "my ip: 684D:1111:222:3333:4444:5555:6:77.",
            "IP",
            "684D:1111:222:3333:4444:5555:6:77",
        );
        finds("use fe80::c164:e47%eth0 now", "IP", "fe80::c164:e47%eth0");
        finds("at [2001:db8::624f]:443", "IP", "2001:db8::624f");
        finds("net 2001:db8::/32 is", "IP", "2001:db8::/32");
        finds("got ::ffff:192.168.0.1 here", "IP", "::ffff:192.168.0.1");
    }

    #[test]
    fn versions_times_and_paths_are_none() {
        for text in [
            "v1.2.3.4",
            "version 15.5.9.1",
            "1.3.6.1.4.1",
            "12:34:56",
            "a[1::2]",
            "std::fe::add",
            "684D:1111:222:3333:4444:5555:77",
            "256.1.1.1",
        ] {
            nothing(text);
        }
    }
}
