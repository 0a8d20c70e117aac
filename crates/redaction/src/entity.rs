//! The closed set of things the detector can name.

use serde::{Deserialize, Serialize};

/// What a span is. The names are stable: they are stored, printed and used as metric labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Entity {
    /// Key material, tokens, passwords, credentials in a URL.
    Secret,
    /// A payment card number that passes its check digit.
    CreditCard,
    /// An international bank account number that passes its checksum.
    Iban,
    /// A United States social security number.
    UsSsn,
    /// A United States individual taxpayer number.
    UsItin,
    /// An address of a crypto currency.
    Crypto,
    /// A hardware address.
    Mac,
    /// An IPv4 or IPv6 address, with its prefix length or zone.
    Ip,
    /// An e-mail address.
    Email,
    /// A telephone number, with its extension.
    Phone,
    /// A web address. Detected, not masked by default.
    Url,
    /// Not a finding: the text was beyond a limit and was not looked at. Always masked.
    Unscanned,
}

impl Entity {
    /// Every entity, in rank order: an earlier one wins a tie over a later one.
    pub const ALL: [Self; 12] = [
        Self::Secret,
        Self::CreditCard,
        Self::Iban,
        Self::UsSsn,
        Self::UsItin,
        Self::Crypto,
        Self::Mac,
        Self::Ip,
        Self::Email,
        Self::Phone,
        Self::Url,
        Self::Unscanned,
    ];

    /// The stored and printed name, for example `CREDIT_CARD`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Secret => "SECRET",
            Self::CreditCard => "CREDIT_CARD",
            Self::Iban => "IBAN",
            Self::UsSsn => "US_SSN",
            Self::UsItin => "US_ITIN",
            Self::Crypto => "CRYPTO",
            Self::Mac => "MAC",
            Self::Ip => "IP",
            Self::Email => "EMAIL",
            Self::Phone => "PHONE",
            Self::Url => "URL",
            Self::Unscanned => "UNSCANNED",
        }
    }

    /// The entity with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|entity| entity.name() == name)
    }

    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl std::fmt::Display for Entity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Entity;

    #[test]
    fn the_stored_name_and_the_serde_name_are_one() {
        for entity in Entity::ALL {
            let json = serde_json::to_string(&entity).unwrap();
            assert_eq!(json, format!("\"{}\"", entity.name()));
            assert_eq!(Entity::from_name(entity.name()), Some(entity));
        }
    }
}
