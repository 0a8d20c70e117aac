//! Every store of the service, named once, with what erasure does to it.
//!
//! A test on Postgres compares this list with the database, table by table and column by column: a
//! migration that adds one fails it until somebody has decided here. A store outside the database (a
//! spool, a cache) is listed by the crate that owns it.

/// What erasure does to a store's rows of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// The rows go. Beside it: the count of the receipt.
    Delete(&'static str),
    /// The rows stay and lose every id and word of the person. Beside it: the count of the receipt.
    Scrub(&'static str),
    /// The id stays, with nothing beside it, so that it is refused for good.
    Bar(&'static str),
    /// A digest is written, so that a key is refused for a while.
    Tombstone(&'static str),
    /// Nothing of a person is in it. Beside it: what is.
    Untouched(&'static str),
}

/// One table.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// Its name.
    pub table: &'static str,
    /// What erasure does.
    pub treatment: Treatment,
    /// The columns that hold a word of a person, or name one.
    pub personal: &'static [&'static str],
    /// All others.
    pub other: &'static [&'static str],
}

/// The database's tables, in the order of erasure, then those it leaves alone.
pub const TABLES: &[Store] = &[
    Store {
        table: "ccm_outbox",
        treatment: Treatment::Delete("deleted_outbox"),
        personal: &[
            "client_message_id",
            "request_digest",
            "user_id",
            "ref_kind",
            "ref_id",
            "payload",
        ],
        other: &[
            "tenant_id",
            "id",
            "kind",
            "state",
            "attempts",
            "last_error",
            "last_attempt_at",
            "next_attempt_at",
            "lease_owner",
            "lease_until",
            "created_at",
            "died_at",
        ],
    },
    Store {
        table: "conversations",
        treatment: Treatment::Delete("deleted_clear_marks"),
        personal: &["channel_scope"],
        other: &["tenant_id", "channel_kind", "cleared_seq", "cleared_at"],
    },
    Store {
        table: "cross_channel_messages",
        treatment: Treatment::Delete("deleted_turns"),
        personal: &[
            "user_id",
            "origin_user_id",
            "client_message_id",
            "request_digest",
            "channel_scope",
            "canvas_session_id",
            "user_message",
            "assistant_answer",
            "tool_calls",
            "metadata",
            "redaction_metadata",
        ],
        other: &[
            "tenant_id",
            "id",
            "seq",
            "channel_kind",
            "user_message_bytes",
            "assistant_bytes",
            "aux_bytes",
            "redaction_state",
            "detector_version",
            "redaction_failures",
            "content_form",
            "created_at",
            "ingested_at",
            "expires_at",
        ],
    },
    Store {
        table: "idempotency_tombstones",
        treatment: Treatment::Tombstone("tombstoned_keys"),
        personal: &[],
        other: &["tenant_id", "key_digest", "reason", "until"],
    },
    Store {
        table: "erased_refs",
        treatment: Treatment::Tombstone("tombstoned_refs"),
        personal: &[],
        other: &["tenant_id", "ref_digest", "erased_at", "until"],
    },
    Store {
        table: "email_claims",
        treatment: Treatment::Delete("deleted_claims"),
        personal: &["email_normalized", "user_id"],
        other: &[
            "tenant_id",
            "normalizer",
            "state",
            "verified_at",
            "last_confirmed_at",
        ],
    },
    Store {
        table: "platform_identities",
        treatment: Treatment::Delete("deleted_identities"),
        personal: &["channel_id", "user_id", "display_name", "email"],
        other: &[
            "tenant_id",
            "kind",
            "email_verified",
            "shared",
            "first_seen_at",
            "last_seen_at",
            "claim_source",
        ],
    },
    Store {
        table: "merges",
        treatment: Treatment::Delete("deleted_merges"),
        personal: &["primary_user_id", "secondary_user_id"],
        other: &[
            "tenant_id",
            "merge_id",
            "source",
            "actor",
            "merged_identities",
            "moved_turns",
            "created_at",
            "undone_at",
            "undone_by",
        ],
    },
    Store {
        table: "reviews",
        treatment: Treatment::Delete("deleted_reviews"),
        personal: &["primary_user_id", "secondary_user_id", "decision_reason"],
        other: &[
            "tenant_id",
            "review_id",
            "reason",
            "state",
            "proposed_by",
            "created_at",
            "decided_at",
            "decided_by",
            "merge_id",
        ],
    },
    Store {
        table: "ccm_audit_events",
        treatment: Treatment::Scrub("nullified_audit_rows"),
        personal: &["target_id", "user_id", "detail"],
        other: &["tenant_id", "id", "actor", "op", "created_at"],
    },
    Store {
        table: "users",
        treatment: Treatment::Bar("barred_user_ids"),
        personal: &["user_id", "merged_into"],
        other: &[
            "tenant_id",
            "status",
            "generation",
            "turn_count",
            "byte_count",
            "version",
            "created_at",
            "updated_at",
        ],
    },
    Store {
        table: "tenants",
        treatment: Treatment::Untouched("the rules of a tenant; the erasure epoch is raised"),
        personal: &[],
        other: &[
            "tenant_id",
            "status",
            "config",
            "config_revision",
            "erasure_epoch",
            "created_at",
        ],
    },
    Store {
        table: "tenant_streams",
        treatment: Treatment::Untouched("a counter"),
        personal: &[],
        other: &["tenant_id", "seq"],
    },
    Store {
        table: "job_leases",
        treatment: Treatment::Untouched("which process does a job for a tenant"),
        personal: &[],
        other: &["tenant_id", "job", "owner", "until", "finished_at"],
    },
    Store {
        table: "job_cursors",
        treatment: Treatment::Untouched("the tenant that a job visited last"),
        personal: &[],
        other: &["job", "last_tenant"],
    },
    Store {
        table: "restamps",
        treatment: Treatment::Untouched("how far a changed retention was carried through"),
        personal: &[],
        other: &[
            "tenant_id",
            "ttl_seconds",
            "extend",
            "looked_at",
            "finished",
        ],
    },
    Store {
        table: "access_keys",
        treatment: Treatment::Untouched("keys of programs, not of people"),
        personal: &[],
        other: &[
            "tenant_id",
            "key_id",
            "label",
            "scopes",
            "key_hash",
            "created_at",
            "revoked_at",
        ],
    },
    Store {
        table: "operator_keys",
        treatment: Treatment::Untouched("keys of operators, who act and are not remembered"),
        personal: &[],
        other: &[
            "key_id",
            "actor",
            "label",
            "key_hash",
            "created_at",
            "revoked_at",
        ],
    },
    Store {
        table: "_sqlx_migrations",
        treatment: Treatment::Untouched("the migrations' own book"),
        personal: &[],
        other: &[
            "version",
            "description",
            "installed_on",
            "success",
            "checksum",
            "execution_time",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_with_a_word_of_a_person_is_never_left_alone() {
        for store in TABLES {
            let untouched = matches!(store.treatment, Treatment::Untouched(_));
            assert!(!untouched || store.personal.is_empty(), "{}", store.table);
        }
    }

    #[test]
    fn a_table_is_named_once() {
        let mut names: Vec<_> = TABLES.iter().map(|store| store.table).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLES.len());
    }
}
