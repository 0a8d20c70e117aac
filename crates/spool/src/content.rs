//! The sealed part of an entry: key, order key and payload in one run of bytes.

use crate::seal::Broken;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) key: String,
    pub(crate) order: Option<String>,
    pub(crate) payload: Vec<u8>,
}

pub(crate) fn encode(key: &str, order: Option<&str>, payload: &[u8]) -> Vec<u8> {
    let mut out =
        Vec::with_capacity(9 + key.len() + order.map_or(0, str::len) + payload.len() + 16);
    put(&mut out, key);
    out.push(u8::from(order.is_some()));
    put(&mut out, order.unwrap_or_default());
    out.extend_from_slice(payload);
    out
}

pub(crate) fn decode(mut bytes: &[u8]) -> Result<Content, Broken> {
    let key = take(&mut bytes)?;
    let (has_order, mut rest) = bytes.split_first().ok_or(Broken)?;
    let order = take(&mut rest)?;
    Ok(Content {
        key,
        order: (*has_order == 1).then_some(order),
        payload: rest.to_vec(),
    })
}

fn put(out: &mut Vec<u8>, text: &str) {
    let length = u32::try_from(text.len()).expect("an entry is limited below 4 GiB");
    out.extend(length.to_le_bytes());
    out.extend(text.as_bytes());
}

fn take(bytes: &mut &[u8]) -> Result<String, Broken> {
    let (length, rest) = bytes.split_first_chunk().ok_or(Broken)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Broken)?;
    let (text, rest) = rest.split_at_checked(length).ok_or(Broken)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).map_err(|_| Broken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_content_survives_its_bytes(
            key: String, order in prop::option::of(".*"), payload: Vec<u8>
        ) {
            let bytes = encode(&key, order.as_deref(), &payload);
            prop_assert_eq!(decode(&bytes), Ok(Content { key, order, payload }));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = decode(&bytes);
        }
    }
}
