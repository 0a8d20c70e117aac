//! The words of a turn: they say whose they are, so that a reader's answer can be judged by itself.

/// What stands behind a secret; a default reader never sees it.
const SECRET: &str = "@secret.example";

/// The words of one turn; with `secret` an address that has to be masked is among them.
pub(crate) fn words(tenant: &str, person: &str, key: &str, secret: bool) -> String {
    let plain = format!("{tenant} {person} {key}");
    if secret {
        format!("{plain} write to {key}{SECRET}")
    } else {
        plain
    }
}

/// Tenant, person and key.
pub(crate) fn parse(text: &str) -> Option<(&str, &str, &str)> {
    let mut parts = text.split(' ');
    Some((parts.next()?, parts.next()?, parts.next()?))
}

/// Whether the address stands there to be read.
pub(crate) fn unmasked(text: &str) -> bool {
    text.contains(SECRET)
}
