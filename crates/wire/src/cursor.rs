//! Where the next page goes on, in a form that callers cannot build on.
//!
//! A cursor holds a position and a fingerprint of what was asked. It is no secret: whoever makes one up
//! still reads only what their key and their filters let them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use throughline_conversation_memory::{CanvasSessionId, ChannelKind, Position, RecentQuery};
use throughline_domain::{AuditId, OutboxId, TenantId, Timestamp, UserId};

use crate::{Code, Place, Problem};

const RECENT: u8 = 1;
const NAMES: u8 = 2;
const ENTRIES: u8 = 3;
const AUDIT: u8 = 4;
const FINGERPRINT: usize = 16;
const LENGTH: usize = 1 + 8 + 8 + FINGERPRINT;

/// The text is no cursor of this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCursor;

impl From<InvalidCursor> for Problem {
    fn from(_: InvalidCursor) -> Self {
        let detail = "the cursor was not made for this tenant, user and filters";
        Place::Parameter("cursor").problem(Code::InvalidCursor, detail)
    }
}

/// A fingerprint of tenant, user and filters; the page size may change between pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filters([u8; FINGERPRINT]);

impl Filters {
    /// Of this request. The order of the channel kinds does not matter.
    pub fn of(tenant: &TenantId, user: UserId, query: &RecentQuery) -> Self {
        let mut kinds: Vec<&str> = query
            .channel_kinds
            .iter()
            .map(ChannelKind::as_str)
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let moment = |at: Option<Timestamp>| at.map(|at| at.as_micros().to_string());
        let mut hash = Sha256::new();
        let mut part = |text: Option<&str>| {
            // The length in front, so that no two lists of parts glue to one text.
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            hash.update(length.to_be_bytes());
            hash.update(text.unwrap_or_default());
        };
        part(Some(tenant.as_str()));
        part(Some(&user.to_string()));
        part(moment(query.since).as_deref());
        part(moment(query.until).as_deref());
        part(query.exclude_canvas.as_ref().map(CanvasSessionId::as_str));
        for kind in kinds {
            part(Some(kind));
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut fingerprint = [0; FINGERPRINT];
        fingerprint.copy_from_slice(&digest[..FINGERPRINT]);
        Self(fingerprint)
    }

    /// The same for a raw read: other turns are on its pages, so its cursors are others.
    #[must_use]
    pub fn raw(self) -> Self {
        Self(self.0.map(|byte| !byte))
    }
}

/// A page's end in a user's turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor;

impl Cursor {
    /// The text to hand out.
    pub fn encode(position: Position, filters: Filters) -> String {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.push(RECENT);
        bytes.extend(position.created_at.as_micros().to_be_bytes());
        bytes.extend(position.seq.to_be_bytes());
        bytes.extend(filters.0);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position, if the text was handed out for these filters.
    pub fn decode(text: &str, filters: Filters) -> Result<Position, InvalidCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let bytes: [u8; LENGTH] = bytes.try_into().map_err(|_| InvalidCursor)?;
        let [RECENT, rest @ ..] = bytes else {
            return Err(InvalidCursor);
        };
        let (created_at, rest) = rest.split_first_chunk::<8>().ok_or(InvalidCursor)?;
        let (seq, fingerprint) = rest.split_first_chunk::<8>().ok_or(InvalidCursor)?;
        if fingerprint != filters.0 {
            return Err(InvalidCursor);
        }
        Ok(Position {
            created_at: Timestamp::from_micros(i64::from_be_bytes(*created_at)),
            seq: u64::from_be_bytes(*seq),
        })
    }
}

/// A page's end in a list sorted by tenant name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameCursor;

impl NameCursor {
    /// The text to hand out.
    pub fn encode(last: &TenantId) -> String {
        let mut bytes = vec![NAMES];
        bytes.extend(last.as_str().as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The name it stands for.
    pub fn decode(text: &str) -> Result<TenantId, InvalidCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let [NAMES, name @ ..] = bytes.as_slice() else {
            return Err(InvalidCursor);
        };
        let name = std::str::from_utf8(name).map_err(|_| InvalidCursor)?;
        TenantId::parse(name).map_err(|_| InvalidCursor)
    }
}

/// A page's end in an outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryCursor;

impl EntryCursor {
    /// The text to hand out.
    pub fn encode(last: OutboxId) -> String {
        let mut bytes = vec![ENTRIES];
        bytes.extend(last.as_u128().to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The entry it stands for.
    pub fn decode(text: &str) -> Result<OutboxId, InvalidCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let [ENTRIES, id @ ..] = bytes.as_slice() else {
            return Err(InvalidCursor);
        };
        let id = id.try_into().map_err(|_| InvalidCursor)?;
        Ok(OutboxId::from_u128(u128::from_be_bytes(id)))
    }
}

/// A page's end in an audit trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditCursor;

impl AuditCursor {
    /// The text to hand out.
    pub fn encode(last: AuditId) -> String {
        let mut bytes = vec![AUDIT];
        bytes.extend(last.as_u128().to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The entry it stands for.
    pub fn decode(text: &str) -> Result<AuditId, InvalidCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let [AUDIT, id @ ..] = bytes.as_slice() else {
            return Err(InvalidCursor);
        };
        let id = id.try_into().map_err(|_| InvalidCursor)?;
        Ok(AuditId::from_u128(u128::from_be_bytes(id)))
    }
}

#[cfg(test)]
mod tests {
    use throughline_conversation_memory::Limit;

    use super::*;

    fn acme() -> TenantId {
        TenantId::parse("acme").unwrap()
    }

    fn kinds(words: &[&str]) -> Vec<ChannelKind> {
        words
            .iter()
            .map(|word| ChannelKind::parse(word).unwrap())
            .collect()
    }

    #[test]
    fn a_cursor_is_bound_to_tenant_user_and_filters() {
        let position = Position {
            created_at: Timestamp::from_micros(-5),
            seq: u64::MAX,
        };
        let user = UserId::from_u128(1);
        let base = RecentQuery {
            channel_kinds: kinds(&["a", "b"]),
            ..RecentQuery::default()
        };
        let filters = Filters::of(&acme(), user, &base);
        let text = Cursor::encode(position, filters);
        assert_eq!(Cursor::decode(&text, filters), Ok(position));
        let same = RecentQuery {
            channel_kinds: kinds(&["b", "a", "a"]),
            limit: Limit::new(7).unwrap(),
            ..RecentQuery::default()
        };
        assert_eq!(Filters::of(&acme(), user, &same), filters);

        let moment = Some(Timestamp::from_micros(1));
        let changed = [
            RecentQuery {
                channel_kinds: kinds(&["ab"]),
                ..base.clone()
            },
            RecentQuery {
                channel_kinds: Vec::new(),
                ..base.clone()
            },
            RecentQuery {
                since: moment,
                ..base.clone()
            },
            RecentQuery {
                until: moment,
                ..base.clone()
            },
            RecentQuery {
                exclude_canvas: CanvasSessionId::parse("c").ok(),
                ..base.clone()
            },
        ];
        let mut others: Vec<Filters> = changed
            .iter()
            .map(|query| Filters::of(&acme(), user, query))
            .collect();
        others.push(Filters::of(&acme(), UserId::from_u128(2), &base));
        others.push(Filters::of(
            &TenantId::parse("acme-corp").unwrap(),
            user,
            &base,
        ));
        for (number, other) in others.into_iter().enumerate() {
            assert_eq!(Cursor::decode(&text, other), Err(InvalidCursor), "{number}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_decoding_panic(text in "[A-Za-z0-9_-]{0,60}") {
            let filters = Filters::of(&acme(), UserId::from_u128(1), &RecentQuery::default());
            proptest::prop_assert_eq!(Cursor::decode(&text, filters), Err(InvalidCursor));
            let _ = NameCursor::decode(&text);
        }
    }

    #[test]
    fn a_name_cursor_gives_its_name_back() {
        assert_eq!(NameCursor::decode(&NameCursor::encode(&acme())), Ok(acme()));
        assert_eq!(NameCursor::decode("acme"), Err(InvalidCursor));
        assert_eq!(NameCursor::decode(""), Err(InvalidCursor));
    }
}
