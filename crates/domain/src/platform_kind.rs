//! The channels a user can come from.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The channels whose user ids we know how to keep apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlatformKind {
    /// Microsoft Teams, the Entra object id.
    TeamsAad,
    /// Slack.
    SlackUser,
    /// Discord.
    DiscordUser,
    /// WhatsApp, the phone number.
    WhatsappPhone,
    /// Telegram, the sender's id (not a group's, T-05).
    TelegramChat,
    /// Anything else, with an id the tenant makes up.
    Custom,
}

impl PlatformKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::TeamsAad,
        Self::SlackUser,
        Self::DiscordUser,
        Self::WhatsappPhone,
        Self::TelegramChat,
        Self::Custom,
    ];

    /// The word in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TeamsAad => "teams-aad",
            Self::SlackUser => "slack-user",
            Self::DiscordUser => "discord-user",
            Self::WhatsappPhone => "whatsapp-phone",
            Self::TelegramChat => "telegram-chat",
            Self::Custom => "custom",
        }
    }
}

impl fmt::Display for PlatformKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The word names no kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the kind is not known; there are teams-aad, slack-user, discord-user, whatsapp-phone, \
     telegram-chat and custom"
)]
pub struct UnknownKind;

impl std::str::FromStr for PlatformKind {
    type Err = UnknownKind;
    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
            .ok_or(UnknownKind)
    }
}

impl Serialize for PlatformKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PlatformKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //
    #[test]
    fn an_unknown_kind_is_refused() {
        for kind in PlatformKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert_eq!("Slack-User".parse::<PlatformKind>(), Err(UnknownKind));
        assert_eq!("".parse::<PlatformKind>(), Err(UnknownKind));
    }
}
