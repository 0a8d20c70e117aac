//! The paths of the surface. The router and every client take them from here.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use throughline_domain::TenantId;

macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident = $template:literal;)+) => {
        $($(#[$doc])* pub const $name: &str = $template;)+
        /// Every path template.
        pub const ALL: &[&str] = &[$($name,)+];
    };
}

paths! {
    /// Resolve a channel user.
    RESOLVE = "/v1/tenants/{tenant}/identities/resolve";
    /// Look a channel user up.
    IDENTITIES = "/v1/tenants/{tenant}/identities";
    /// One user.
    USER = "/v1/tenants/{tenant}/users/{user_id}";
    /// A user's turns.
    RECENT = "/v1/tenants/{tenant}/users/{user_id}/turns";
    /// The prompt block made of a user's turns.
    CONTEXT = "/v1/tenants/{tenant}/users/{user_id}/context";
    /// Append.
    TURNS = "/v1/tenants/{tenant}/turns";
    /// Append many.
    BATCH = "/v1/tenants/{tenant}/turns/batch";
    /// Queue an append.
    OUTBOX = "/v1/tenants/{tenant}/outbox";
    /// One channel scope.
    HISTORY = "/v1/tenants/{tenant}/history";
    /// Merges of two users.
    MERGES = "/v1/tenants/{tenant}/merges";
    /// One of them.
    MERGE = "/v1/tenants/{tenant}/merges/{merge_id}";
    /// All tenants.
    ADMIN_TENANTS = "/admin/tenants";
    /// One tenant.
    ADMIN_TENANT = "/admin/tenants/{tenant}";
    /// A tenant's keys.
    ADMIN_KEYS = "/admin/tenants/{tenant}/keys";
    /// One of them.
    ADMIN_KEY = "/admin/tenants/{tenant}/keys/{key_id}";
    /// Appends that wait, and dead letters.
    ADMIN_OUTBOX = "/admin/tenants/{tenant}/outbox";
    /// One dead letter.
    ADMIN_OUTBOX_ENTRY = "/admin/tenants/{tenant}/outbox/{entry_id}";
    /// Put it back in line.
    ADMIN_OUTBOX_REQUEUE = "/admin/tenants/{tenant}/outbox/{entry_id}/requeue";
    /// Questions to operators.
    ADMIN_REVIEWS = "/admin/tenants/{tenant}/reviews";
    /// Answer one: they are one person.
    ADMIN_REVIEW_ACCEPT = "/admin/tenants/{tenant}/reviews/{review_id}/accept";
    /// Answer one: they are two.
    ADMIN_REVIEW_DECLINE = "/admin/tenants/{tenant}/reviews/{review_id}/decline";
    /// The trail of what operators did to people's data.
    ADMIN_AUDIT = "/admin/tenants/{tenant}/audit";
    /// All of it, line by line.
    ADMIN_AUDIT_EXPORT = "/admin/tenants/{tenant}/audit/export";
    /// Take an address out of joining.
    ADMIN_CLAIM_REVOKE = "/admin/tenants/{tenant}/claims/revoke";
    /// Run a job now.
    ADMIN_JOB_RUN = "/admin/jobs/{job}/run";
    /// The operators' keys.
    OPERATOR_KEYS = "/admin/operators/keys";
    /// One of them.
    OPERATOR_KEY = "/admin/operators/keys/{key_id}";
    /// Whether the process lives.
    LIVEZ = "/livez";
    /// The same.
    HEALTHZ = "/healthz";
    /// Whether it can serve.
    READYZ = "/readyz";
    /// The surface as a document.
    OPENAPI = "/openapi.json";
    /// Metrics.
    METRICS = "/metrics";
    /// The same.
    CCM_METRICS = "/ccm/metrics";
}

/// Everything but RFC 3986's unreserved characters.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A template with its parts filled in, each percent-encoded.
pub fn fill(template: &str, tenant: &TenantId, parts: &[(&str, &str)]) -> String {
    let mut path = template.replace("{tenant}", &segment(tenant.as_str()));
    for (name, value) in parts {
        path = path.replace(&format!("{{{name}}}"), &segment(value));
    }
    path
}

fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_leave_their_segment() {
        let acme = TenantId::parse("acme").unwrap();
        assert_eq!(
            fill(USER, &acme, &[("user_id", "../a b?")]),
            "/v1/tenants/acme/users/..%2Fa%20b%3F"
        );
    }
}
