//! Sealing entries: AES-256-GCM-SIV for the content, keyed hashes for what must be found or compared
//! without being readable.
//!
//! The authentication tag also does the work of a checksum: a flipped bit anywhere in the content,
//! or in the head it is bound to, is found when it is opened. A CRC beside it would find nothing more.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};

use crate::SpoolKey;

/// A keyed hash: equal inputs are seen to be equal, and nobody without the key can guess them.
pub(crate) type Digest = [u8; 32];

/// The bytes are not those that were sealed, or not where they were sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

pub(crate) struct Sealer {
    content: RandomizedNonceKey,
    digests: [u8; 32],
    heads: [u8; 32],
    key_id: String,
}

impl Sealer {
    pub(crate) fn new(key: &SpoolKey) -> Self {
        // Nonces come from the library's own generator, not from an injected one: a nonce that a
        // test could repeat is one that a mistake could repeat. SIV forgives even that.
        let content =
            RandomizedNonceKey::new(&AES_256_GCM_SIV, &key.derive("throughline spool content"))
                .expect("the derived key has the length the algorithm takes");
        Self {
            content,
            digests: key.derive("throughline spool digests"),
            heads: key.derive("throughline spool heads"),
            key_id: key.id(),
        }
    }

    pub(crate) fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Nonce, ciphertext and tag. `bound_to` must be given again to open it.
    pub(crate) fn seal(&self, bound_to: &[u8], mut plain: Vec<u8>) -> Vec<u8> {
        let nonce = self
            .content
            .seal_in_place_append_tag(Aad::from(bound_to), &mut plain)
            .expect("sealing fails only beyond 64 GiB, and entries are limited to 4 GiB");
        let mut sealed = Vec::with_capacity(NONCE_LEN + plain.len());
        sealed.extend_from_slice(nonce.as_ref());
        sealed.append(&mut plain);
        sealed
    }

    pub(crate) fn open(&self, bound_to: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Broken> {
        let (nonce, content) = sealed.split_at_checked(NONCE_LEN).ok_or(Broken)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Broken)?;
        let mut content = content.to_vec();
        let length = self
            .content
            .open_in_place(nonce, Aad::from(bound_to), &mut content)
            .map_err(|_| Broken)?
            .len();
        content.truncate(length);
        Ok(content)
    }

    /// The keyed hash of one text or content; `kind` keeps equal texts of two kinds apart.
    pub(crate) fn digest(&self, kind: &str, bytes: &[u8]) -> Digest {
        let mut hasher = blake3::Hasher::new_keyed(&self.digests);
        hasher.update(&(kind.len() as u64).to_le_bytes());
        hasher.update(kind.as_bytes());
        hasher.update(bytes);
        hasher.finalize().into()
    }

    /// What shows that a head is as this spool wrote it.
    pub(crate) fn head_tag(&self, head: &[u8]) -> [u8; 16] {
        let hash = blake3::keyed_hash(&self.heads, head);
        *hash.as_bytes().first_chunk().expect("a hash has 32 bytes")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sealer() -> Sealer {
        Sealer::new(&SpoolKey::from_bytes([7; 32]))
    }

    #[test]
    fn equal_contents_do_not_look_equal() {
        let sealer = sealer();
        assert_ne!(
            sealer.seal(b"here", b"same".to_vec()),
            sealer.seal(b"here", b"same".to_vec())
        );
    }

    proptest! {
        #[test]
        fn what_was_sealed_opens_in_its_place_and_nowhere_else(
            plain: Vec<u8>, here: Vec<u8>, there: Vec<u8>
        ) {
            let sealer = sealer();
            let sealed = sealer.seal(&here, plain.clone());
            prop_assert_eq!(sealer.open(&here, &sealed), Ok(plain));
            prop_assert_eq!(sealer.open(&there, &sealed).is_ok(), here == there);
        }

        #[test]
        fn one_flipped_bit_is_found(plain: Vec<u8>, at: prop::sample::Index, bit in 0_u8..8) {
            let sealer = sealer();
            let mut sealed = sealer.seal(b"here", plain);
            let at = at.index(sealed.len());
            sealed[at] ^= 1 << bit;
            prop_assert_eq!(sealer.open(b"here", &sealed), Err(Broken));
        }
    }
}
