//! An entry's head: what must be known without opening its content. It holds no text a person wrote
//! and no channel's name or key, only keyed hashes of them.

use throughline_domain::{TenantId, Timestamp, UserId};

use crate::Lane;
use crate::seal::{Broken, Digest, Sealer};

pub(crate) const FORMAT: u8 = 1;
const MAX_CODE_BYTES: usize = 64;
const MAX_REASON_BYTES: usize = 256;
const TAG_BYTES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// What never changes; the content is bound to it.
    pub(crate) fixed: Fixed,
    pub(crate) attempts: u32,
    pub(crate) next_attempt_at: Timestamp,
    pub(crate) last_error: String,
    pub(crate) aside: Option<Aside>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) seq: u64,
    pub(crate) tenant: TenantId,
    pub(crate) user: Option<UserId>,
    pub(crate) lane: Lane,
    pub(crate) key: Digest,
    pub(crate) content: Digest,
    pub(crate) enqueued_at: Timestamp,
    pub(crate) charge: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aside {
    pub(crate) at: Timestamp,
    pub(crate) reason: String,
}

impl Fixed {
    /// The bytes the content is bound to: format, sequence, tenant, user, lane, key, content digest.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(192);
        out.push(FORMAT);
        out.extend(self.seq.to_le_bytes());
        put_text(&mut out, self.tenant.as_str());
        out.push(u8::from(self.user.is_some()));
        out.extend(self.user.map_or(0, UserId::as_u128).to_le_bytes());
        out.extend(self.lane.0.to_le_bytes());
        out.extend(self.key);
        out.extend(self.content);
        out.extend(self.enqueued_at.as_micros().to_le_bytes());
        out.extend(self.charge.to_le_bytes());
        out
    }

    fn decode(from: &mut Reader<'_>) -> Option<Self> {
        (from.take::<1>()? == [FORMAT]).then_some(())?;
        let seq = from.u64()?;
        let tenant = TenantId::parse(from.text()?).ok()?;
        let has_user = from.take::<1>()? == [1];
        let user = u128::from_le_bytes(from.take()?);
        Some(Self {
            seq,
            tenant,
            user: has_user.then(|| UserId::from_u128(user)),
            lane: Lane(from.u64()?),
            key: from.take()?,
            content: from.take()?,
            enqueued_at: from.moment()?,
            charge: from.u64()?,
        })
    }
}

impl Head {
    pub(crate) fn new(fixed: Fixed) -> Self {
        Self {
            attempts: 0,
            next_attempt_at: fixed.enqueued_at,
            last_error: String::new(),
            aside: None,
            fixed,
        }
    }

    pub(crate) fn encode(&self, sealer: &Sealer) -> Vec<u8> {
        let mut out = self.fixed.encode();
        out.extend(self.attempts.to_le_bytes());
        out.extend(self.next_attempt_at.as_micros().to_le_bytes());
        put_text(&mut out, cut(&self.last_error, MAX_CODE_BYTES));
        out.push(u8::from(self.aside.is_some()));
        if let Some(aside) = &self.aside {
            out.extend(aside.at.as_micros().to_le_bytes());
            put_text(&mut out, cut(&aside.reason, MAX_REASON_BYTES));
        }
        let tag = sealer.head_tag(&out);
        out.extend(tag);
        out
    }

    /// Reads the head stored under `seq`.
    pub(crate) fn decode(sealer: &Sealer, seq: u64, bytes: &[u8]) -> Result<Self, Broken> {
        let split = bytes.len().checked_sub(TAG_BYTES).ok_or(Broken)?;
        let (head, tag) = bytes.split_at(split);
        if sealer.head_tag(head) != tag {
            return Err(Broken);
        }
        let head = Self::read(&mut Reader(head)).ok_or(Broken)?;
        if head.fixed.seq == seq {
            Ok(head)
        } else {
            Err(Broken)
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let fixed = Fixed::decode(from)?;
        let attempts = u32::from_le_bytes(from.take()?);
        let next_attempt_at = from.moment()?;
        let last_error = from.text()?.to_owned();
        let aside = if from.take::<1>()? == [1] {
            let at = from.moment()?;
            let reason = from.text()?.to_owned();
            Some(Aside { at, reason })
        } else {
            None
        };
        from.0.is_empty().then_some(Self {
            fixed,
            attempts,
            next_attempt_at,
            last_error,
            aside,
        })
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    let length =
        u16::try_from(text.len()).expect("texts in a head are cut or limited below 64 KiB");
    out.extend(length.to_le_bytes());
    out.extend(text.as_bytes());
}

fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn moment(&mut self) -> Option<Timestamp> {
        self.take()
            .map(i64::from_le_bytes)
            .map(Timestamp::from_micros)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::from(u16::from_le_bytes(self.take()?));
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SpoolKey;

    fn sealer() -> Sealer {
        Sealer::new(&SpoolKey::from_bytes([9; 32]))
    }

    prop_compose! {
        fn heads()(
            seq: u64, user: Option<u128>, lane: u64, key: [u8; 32], at in 0_i64..1 << 50,
            attempts: u32, last_error in "[a-z_]{0,64}", reason in prop::option::of("\\PC{0,64}"),
        ) -> Head {
            Head {
                fixed: Fixed {
                    seq,
                    tenant: TenantId::parse("acme").unwrap(),
                    user: user.map(UserId::from_u128),
                    lane: Lane(lane),
                    key,
                    content: key,
                    enqueued_at: Timestamp::from_micros(at),
                    charge: lane,
                },
                attempts,
                next_attempt_at: Timestamp::from_micros(at),
                last_error,
                aside: reason.map(|reason| Aside { at: Timestamp::from_micros(at), reason }),
            }
        }
    }

    proptest! {
        #[test]
        fn a_head_survives_its_bytes(head in heads()) {
            let bytes = head.encode(&sealer());
            prop_assert_eq!(Head::decode(&sealer(), head.fixed.seq, &bytes), Ok(head));
        }

        #[test]
        fn a_changed_cut_or_moved_head_is_found(
            head in heads(), at: prop::sample::Index, bit in 0_u8..8
        ) {
            let bytes = head.encode(&sealer());
            let at = at.index(bytes.len());
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let seq = head.fixed.seq;
            prop_assert_eq!(Head::decode(&sealer(), seq, &changed), Err(Broken));
            prop_assert_eq!(Head::decode(&sealer(), seq, &bytes[..at]), Err(Broken));
            prop_assert_eq!(Head::decode(&sealer(), seq.wrapping_add(1), &bytes), Err(Broken));
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let mut head = Head::new(Fixed {
            seq: 1,
            tenant: TenantId::parse("acme").unwrap(),
            user: None,
            lane: Lane(0),
            key: [0; 32],
            content: [0; 32],
            enqueued_at: Timestamp::from_micros(0),
            charge: 0,
        });
        head.aside = Some(Aside {
            at: Timestamp::from_micros(0),
            reason: "ä".repeat(200),
        });
        let back = Head::decode(&sealer(), 1, &head.encode(&sealer())).unwrap();
        assert_eq!(back.aside.unwrap().reason, "ä".repeat(128));
    }
}
