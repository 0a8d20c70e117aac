//! A user as one channel names them.

use std::fmt;

use sha2::{Digest, Sha256};
use throughline_domain::{AuthorRef, PlatformKind, TenantId, TextFault, check_text};

/// Kind and id of a channel's user. The id is opaque: case, white space and separators are kept, and
/// the two parts are never glued together, so (`a:b`, `c`) and (`a`, `b:c`) stay two people.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlatformUserId {
    /// The channel.
    pub kind: PlatformKind,
    id: String,
}

impl PlatformUserId {
    /// The longest id, in bytes.
    pub const MAX_BYTES: usize = 256;

    /// Checks the id: 1..=256 bytes, not blank, no NUL.
    pub fn new(kind: PlatformKind, id: &str) -> Result<Self, TextFault> {
        check_text(id, 1, Self::MAX_BYTES)?;
        Ok(Self {
            kind,
            id: id.to_owned(),
        })
    }

    /// As it is written down with what they said, and nothing else about them.
    pub fn to_author(&self) -> AuthorRef {
        AuthorRef {
            kind: self.kind.as_str().to_owned(),
            id: self.id.clone(),
            ..AuthorRef::default()
        }
    }

    /// The id as the channel wrote it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What may be kept of an erased channel user: a SHA-256 that tells whether they are the same one,
    /// and nothing to anybody who does not know the id. It is of this use and this tenant alone, and
    /// every part has its length in front, so that no two lists of parts glue to one text.
    pub fn digest(&self, tenant: &TenantId) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [
            "throughline erased channel user",
            tenant.as_str(),
            self.kind.as_str(),
            &self.id,
        ] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// Without the id: a WhatsApp id is a phone number (T-66).
impl fmt::Debug for PlatformUserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlatformUserId({}, ***)", self.kind)
    }
}

/// A channel's user with what the channel says of them. Debug shows the kind only.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelUser {
    /// Who.
    pub id: PlatformUserId,
    display_name: Option<String>,
    email: Option<String>,
    email_verified: Option<bool>,
    shared: bool,
}

/// What the channel says of its user cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChannelUser {
    /// The id.
    #[error("ref.id is not usable")]
    Id(#[source] TextFault),
    /// The display name.
    #[error("ref.display_name is not usable")]
    DisplayName(#[source] TextFault),
    /// The e-mail address.
    #[error("ref.email is not usable")]
    Email(#[source] TextFault),
}

impl ChannelUser {
    /// The longest display name, in bytes.
    pub const MAX_DISPLAY_NAME_BYTES: usize = 512;
    /// The longest address, in bytes (RFC 5321's path).
    pub const MAX_EMAIL_BYTES: usize = 254;

    /// A user of whom the channel says nothing more.
    pub fn new(kind: PlatformKind, id: &str) -> Result<Self, InvalidChannelUser> {
        let id = PlatformUserId::new(kind, id).map_err(InvalidChannelUser::Id)?;
        Ok(Self {
            id,
            display_name: None,
            email: None,
            email_verified: None,
            shared: false,
        })
    }

    /// The one that was written down; `None` for a kind or a text that today's release does not take.
    pub fn of_author(author: &AuthorRef) -> Option<Self> {
        let mut user = Self::new(author.kind.parse().ok()?, &author.id).ok()?;
        if let Some(name) = &author.display_name {
            user = user.with_display_name(name).ok()?;
        }
        if let Some(email) = &author.email {
            user = user.with_email(email, author.email_verified).ok()?;
        }
        Some(user.with_shared(author.shared))
    }

    /// As it is written down with what they said.
    pub fn to_author(&self) -> AuthorRef {
        AuthorRef {
            display_name: self.display_name.clone(),
            email: self.email.clone(),
            email_verified: self.email_verified,
            shared: self.shared,
            ..self.id.to_author()
        }
    }

    /// Adds the display name; it may be empty.
    pub fn with_display_name(mut self, name: &str) -> Result<Self, InvalidChannelUser> {
        check_text(name, 0, Self::MAX_DISPLAY_NAME_BYTES)
            .map_err(InvalidChannelUser::DisplayName)?;
        self.display_name = Some(name.to_owned());
        Ok(self)
    }

    /// Adds the address, and whether the channel vouches for it.
    pub fn with_email(
        mut self,
        email: &str,
        verified: Option<bool>,
    ) -> Result<Self, InvalidChannelUser> {
        check_text(email, 1, Self::MAX_EMAIL_BYTES).map_err(InvalidChannelUser::Email)?;
        self.email = Some(email.to_owned());
        self.email_verified = verified;
        Ok(self)
    }

    /// Says whether this is a group and no single person, as some channels' chats are (T-05).
    #[must_use]
    pub fn with_shared(self, shared: bool) -> Self {
        Self { shared, ..self }
    }

    /// Whether the channel says that this is a group.
    pub fn shared(&self) -> bool {
        self.shared
    }

    /// The name, if given.
    pub fn display_name(&self) -> Option<&str> {
        self.display_name.as_deref()
    }

    /// The address as given.
    pub fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// Whether the channel vouches for the address; `None` when it did not say.
    pub fn email_verified(&self) -> Option<bool> {
        self.email_verified
    }
}

impl fmt::Debug for ChannelUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChannelUser({}, ***)", self.id.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_user_comes_back_as_they_were_named() {
        let user = ChannelUser::new(PlatformKind::SlackUser, "U1")
            .and_then(|user| user.with_display_name("Mina"))
            .and_then(|user| user.with_email("mina@example.org", Some(false)))
            .unwrap()
            .with_shared(true);
        assert_eq!(ChannelUser::of_author(&user.to_author()), Some(user));
        let bare = ChannelUser::new(PlatformKind::Custom, "c").unwrap();
        assert_eq!(ChannelUser::of_author(&bare.id.to_author()), Some(bare));
        let unheard_of = AuthorRef {
            kind: "carrier-pigeon".to_owned(),
            id: "c".to_owned(),
            ..AuthorRef::default()
        };
        assert_eq!(ChannelUser::of_author(&unheard_of), None);
    }

    // failures.md 11 and 21
    #[test]
    fn ids_are_opaque_but_never_blank() {
        let id = |text: &str| PlatformUserId::new(PlatformKind::Custom, text);
        assert_ne!(id("U1").unwrap(), id("u1").unwrap());
        assert_ne!(id(" U1").unwrap(), id("U1").unwrap());
        assert_eq!(id("").unwrap_err(), TextFault::Blank { min: 1 });
        assert_eq!(id(" \t").unwrap_err(), TextFault::Blank { min: 1 });
        assert_eq!(id("a\0b").unwrap_err(), TextFault::Nul);
        assert!(id(&"x".repeat(256)).is_ok());
        assert!(id(&"x".repeat(257)).is_err());
    }

    // failures.md 10
    #[test]
    fn a_digest_is_of_one_channel_user_of_one_tenant() {
        let digest = |tenant: &str, kind, id: &str| {
            let tenant = TenantId::parse(tenant).unwrap();
            PlatformUserId::new(kind, id).unwrap().digest(&tenant)
        };
        let all = [
            digest("acme", PlatformKind::Custom, "U1"),
            digest("acme", PlatformKind::Custom, "u1"),
            digest("acme", PlatformKind::SlackUser, "U1"),
            digest("acme-corp", PlatformKind::Custom, "U1"),
            digest("acme", PlatformKind::Custom, "U1 "),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(all.iter().skip(place + 1).all(|other| one != other));
        }
        assert_eq!(all[0], digest("acme", PlatformKind::Custom, "U1"));
    }

    // failures.md 33
    #[test]
    fn debug_output_shows_no_id_name_or_address() {
        let user = ChannelUser::new(PlatformKind::WhatsappPhone, "4179")
            .and_then(|user| user.with_display_name("Mina"))
            .and_then(|user| user.with_email("mina@example.org", Some(true)))
            .unwrap();
        assert_eq!(format!("{user:?}"), "ChannelUser(whatsapp-phone, ***)");
    }
}
