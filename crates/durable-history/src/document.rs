//! What a spool entry of the adapter holds: an append, or the clearing of a scope.

use serde::{Deserialize, Serialize};
use throughline_conversation_memory::{ChannelKind, ChannelScope, QueuedAppend};
use throughline_domain::Timestamp;

use crate::deliver::Job;

/// A clearing on paper. An append has its own document, which is versioned too and has no `clear`.
#[derive(Serialize, Deserialize)]
struct Clearing {
    v: u32,
    clear: Scope,
}

#[derive(Serialize, Deserialize)]
struct Scope {
    channel_kind: String,
    #[serde(rename = "channel_scope")]
    id: String,
    at_us: i64,
}

const VERSION: u32 = 1;

/// The document of a clearing.
pub(crate) fn clearing(scope: &ChannelScope, at: Timestamp) -> Vec<u8> {
    let clearing = Clearing {
        v: VERSION,
        clear: Scope {
            channel_kind: scope.kind().as_str().to_owned(),
            id: scope.id().to_owned(),
            at_us: at.as_micros(),
        },
    };
    serde_json::to_vec(&clearing).expect("two texts and two numbers can be written")
}

/// What a document that was kept then asks for; `None` for one that this release cannot read.
pub(crate) fn read(payload: &[u8], kept_at: Timestamp) -> Option<Job> {
    let text = std::str::from_utf8(payload).ok()?;
    if let Ok(append) = QueuedAppend::decode(text, kept_at) {
        return Some(Job::Append(Box::new(append)));
    }
    let clearing: Clearing = serde_json::from_str(text).ok()?;
    if clearing.v != VERSION {
        return None;
    }
    let kind = ChannelKind::parse(&clearing.clear.channel_kind).ok()?;
    let scope = ChannelScope::new(kind, &clearing.clear.id).ok()?;
    Some(Job::Clear(
        scope,
        Timestamp::from_micros(clearing.clear.at_us),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clearing_is_read_back_and_one_of_another_release_is_not() {
        let kind = ChannelKind::parse("slack-user").unwrap();
        let scope = ChannelScope::new(kind, "C\"1").unwrap();
        let at = Timestamp::from_micros(7);
        let document = clearing(&scope, at);
        let Some(Job::Clear(back, then)) = read(&document, at) else {
            panic!("a clearing");
        };
        assert_eq!((back, then), (scope, at));
        let newer = String::from_utf8(document)
            .unwrap()
            .replace("\"v\":1", "\"v\":2");
        for text in [newer.as_str(), "", "{}", "\u{FFFD}"] {
            assert!(read(text.as_bytes(), at).is_none(), "{text}");
        }
    }
}
