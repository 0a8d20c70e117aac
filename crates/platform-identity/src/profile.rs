//! What is known of a channel's user, and what it becomes when they are seen again.

use crate::{ChannelUser, NormalizedEmail};

/// The changeable part of an identity. Debug shows nothing of it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The latest name given.
    pub display_name: Option<String>,
    /// The latest address given, as given.
    pub email: Option<String>,
    /// Whether the channel vouched for that very address.
    pub email_verified: bool,
    /// Whether it is a group: it joins nobody by an address and is left out of recall (T-05).
    pub shared: bool,
}

impl Profile {
    /// The profile of a first sight.
    pub fn of(seen: &ChannelUser) -> Self {
        Self::default().after(seen)
    }

    /// The profile after a sighting: what is given replaces, what is absent stays (T-02). Being
    /// verified belongs to one address: another mailbox is unverified until the channel says so.
    #[must_use]
    pub fn after(&self, seen: &ChannelUser) -> Self {
        let email = seen.email().map(str::to_owned);
        let same_mailbox = email.is_none() || normal(email.as_ref()) == self.normal_email();
        let verified = seen.email_verified();
        Self {
            display_name: seen
                .display_name()
                .map(str::to_owned)
                .or_else(|| self.display_name.clone()),
            email_verified: verified.unwrap_or(same_mailbox && self.email_verified),
            email: email.or_else(|| self.email.clone()),
            // A group does not become a person: words of others would be theirs.
            shared: self.shared || seen.shared(),
        }
    }

    /// The address in the form that is compared.
    pub fn normal_email(&self) -> Option<NormalizedEmail> {
        normal(self.email.as_ref())
    }
}

fn normal(email: Option<&String>) -> Option<NormalizedEmail> {
    email.and_then(|raw| NormalizedEmail::of(raw))
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Profile(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlatformKind;

    fn seen(email: Option<&str>, verified: Option<bool>) -> ChannelUser {
        let user = ChannelUser::new(PlatformKind::TeamsAad, "1").unwrap();
        email.map_or_else(
            || user.clone(),
            |email| user.clone().with_email(email, verified).unwrap(),
        )
    }

    // T-02
    #[test]
    fn what_is_absent_stays_and_what_is_given_replaces() {
        let named = seen(Some("a@x.org"), Some(true))
            .with_display_name("Mina")
            .unwrap();
        let profile = Profile::of(&named);
        assert_eq!(profile.after(&seen(None, None)), profile);
        assert!(profile.after(&seen(Some("A@x.org"), None)).email_verified);
        let unverified = profile.after(&seen(Some("a@x.org"), Some(false)));
        assert!(!unverified.email_verified);
        assert_eq!(
            profile.after(&seen(None, None)).display_name.as_deref(),
            Some("Mina")
        );
    }

    // failures.md 19: the verification of one address is not lent to the next.
    #[test]
    fn another_address_is_unverified_until_the_channel_says_so() {
        let profile = Profile::of(&seen(Some("a@x.org"), Some(true)));
        let moved = profile.after(&seen(Some("victim@x.org"), None));
        assert_eq!(moved.email.as_deref(), Some("victim@x.org"));
        assert!(!moved.email_verified);
        // An address without a normal form is nobody's mailbox, not even its own.
        let odd = Profile::of(&seen(Some("a@b@c"), None));
        assert!(!odd.after(&seen(Some("d@e@f"), None)).email_verified);
    }
}
