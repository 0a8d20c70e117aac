//! What the schema and the statements promise, asked from the catalogue and from every text.

use super::scratch::{Scratch, migrated};
use crate::statement;

/// Tables that are no tenant's, with the reason.
const NOT_A_TENANTS: [(&str, &str); 3] = [
    (
        "job_cursors",
        "a job goes on where any replica stopped, whatever the tenant",
    ),
    ("operator_keys", "operators stand above the tenants"),
    ("_sqlx_migrations", "the migrations' own book"),
];

/// Statements over all tenants, with the reason.
const OVER_ALL_TENANTS: [(&str, &str); 7] = [
    (
        "tenant_list",
        "lists the tenants themselves: `$1` is the name to go on after",
    ),
    (
        "gc_oldest_ended",
        "the age of the oldest waiting turn, a gauge without a tenant",
    ),
    (
        "outbox_due",
        "names tenants where something waits: `$1` is the name to go on after",
    ),
    (
        "outbox_dead",
        "names tenants with old dead letters: `$1` is the name to go on after",
    ),
    ("outbox_stats", "counts what waits, gauges without a tenant"),
    (
        "redaction_tenants_due",
        "lists tenants that have turns to scan: `$1` is the name to go on after",
    ),
    (
        "redaction_backlog",
        "how many turns wait for a scan and since when, gauges without a tenant",
    ),
];

/// The tables of tenants' data, as they stand in the catalogue.
const TENANT_TABLES: [&str; 16] = [
    "access_keys",
    "ccm_audit_events",
    "ccm_outbox",
    "conversations",
    "cross_channel_messages",
    "email_claims",
    "erased_refs",
    "idempotency_tombstones",
    "job_leases",
    "merges",
    "platform_identities",
    "restamps",
    "reviews",
    "tenant_streams",
    "tenants",
    "users",
];

#[tokio::test]
async fn readiness_knows_every_table_and_sees_one_that_is_gone() {
    let Scratch {
        store, database, ..
    } = Scratch::new().await;
    let made = database
        .psql(
            "select relname from pg_class where relkind in ('r', 'p') \
             and relnamespace = 'public'::regnamespace and relname <> '_sqlx_migrations' \
             order by relname collate \"C\";",
        )
        .unwrap();
    let made: Vec<&str> = made.lines().collect();
    assert_eq!(made, crate::schema_status::TABLES);
    assert_eq!(store.missing_tables().await.unwrap(), [""; 0]);
    database.psql("drop table ccm_outbox;").unwrap();
    assert_eq!(store.missing_tables().await.unwrap(), ["ccm_outbox"]);
}

async fn ask(sql: &str) -> Vec<String> {
    let database = migrated().await;
    database
        .psql(sql)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn every_table_is_a_tenants_or_an_exception_with_a_reason() {
    let tables = ask("select relname from pg_class \
                      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace \
                      order by relname collate \"C\";")
    .await;
    let mut expected: Vec<&str> = TENANT_TABLES.to_vec();
    expected.extend(NOT_A_TENANTS.map(|(table, _)| table));
    expected.sort_unstable();
    assert_eq!(tables, expected);
}

#[tokio::test]
async fn every_primary_key_and_unique_index_starts_with_the_tenant() {
    let others = ask("select c.relname \
                      from pg_index i \
                      join pg_class c on c.oid = i.indrelid \
                      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] \
                      where i.indisunique and c.relnamespace = 'public'::regnamespace \
                      and a.attname <> 'tenant_id' \
                      order by c.relname;")
    .await;
    assert_eq!(others, ["_sqlx_migrations", "job_cursors", "operator_keys"]);
    let keyless = ask("select c.relname from pg_class c \
                       where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace \
                       and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary);")
    .await;
    assert_eq!(keyless, [] as [String; 0]);
}

#[tokio::test]
async fn every_foreign_key_stays_inside_the_tenant() {
    let crossing = ask("select conname from pg_constraint k \
         join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1] \
         join pg_attribute b on b.attrelid = k.confrelid and b.attnum = k.confkey[1] \
         where k.contype = 'f' and (a.attname <> 'tenant_id' or b.attname <> 'tenant_id');")
    .await;
    assert_eq!(crossing, [] as [String; 0]);
}

/// No default at all: a value that the database makes up differs by node.
#[tokio::test]
async fn no_column_has_a_default_and_no_table_a_trigger_of_its_own() {
    let defaults = ask("select d.adrelid::regclass, a.attname from pg_attrdef d \
         join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum \
         join pg_class c on c.oid = d.adrelid \
         where c.relnamespace = 'public'::regnamespace \
         and d.adrelid <> '_sqlx_migrations'::regclass;")
    .await;
    assert_eq!(defaults, [] as [String; 0]);
    let generated = ask("select attrelid::regclass, attname from pg_attribute a \
         join pg_class c on c.oid = a.attrelid \
         where c.relnamespace = 'public'::regnamespace and (attidentity <> '' or attgenerated <> '');")
    .await;
    assert_eq!(generated, [] as [String; 0]);
    let triggers = ask("select tgname from pg_trigger where not tgisinternal;").await;
    assert_eq!(triggers, [] as [String; 0]);
}

/// Ids, keys, kinds, scopes and closed words are compared bytewise; texts that people read are not
/// indexed at all.
#[tokio::test]
async fn every_indexed_text_is_compared_bytewise() {
    let others = ask("select i.indexrelid::regclass, a.attname \
         from pg_index i \
         join pg_attribute a on a.attrelid = i.indexrelid \
         join pg_class c on c.oid = i.indrelid \
         where c.relnamespace = 'public'::regnamespace \
         and a.attcollation not in (0, (select oid from pg_collation where collname = 'C'));")
    .await;
    assert_eq!(others, [] as [String; 0]);
}

#[test]
fn every_statement_has_its_name_in_front_and_once() {
    let mut names: Vec<&str> = statement::all().map(|statement| statement.name).collect();
    let count = names.len();
    for statement in statement::all() {
        let first = statement.sql.lines().next().unwrap();
        assert_eq!(first, format!("-- {}", statement.name));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two statements share a name");
    assert!(count > 20, "the list has lost its statements");
}

fn of_one_tenant() -> impl Iterator<Item = &'static statement::Statement> {
    let over_all = |name| OVER_ALL_TENANTS.iter().any(|(all, _)| *all == name);
    statement::all().filter(move |statement| !over_all(statement.name))
}

/// The text without its comments.
fn code(sql: &str) -> String {
    let lines = sql
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"));
    lines.collect::<Vec<_>>().join("\n").to_lowercase()
}

#[test]
fn every_statement_on_a_tenants_table_binds_the_tenant_first() {
    for statement in of_one_tenant() {
        let code = code(statement.sql);
        let words: Vec<&str> = code
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .collect();
        if !words.iter().any(|word| TENANT_TABLES.contains(word)) {
            continue;
        }
        // The tenant's own comparison, its place in an insert, or the first array of the rows.
        let by_one = code.contains("tenant_id = $1");
        let words_apart: Vec<&str> = code.split_whitespace().collect();
        let inserted = words_apart
            .join(" ")
            .replace("( ", "(")
            .contains("values ($1,");
        let by_rows =
            code.contains("unnest($1::text[]") || code.contains("unnest(\n        $1::text[]");
        assert!(
            by_one || inserted || by_rows,
            "{} does not bind the tenant",
            statement.name
        );
    }
}

/// A sharded database refuses them, and a clock of its own would differ from ours.
#[test]
fn no_statement_asks_the_database_for_time_or_chance() {
    for statement in statement::all() {
        let code = code(statement.sql);
        for word in [
            "now()",
            "current_timestamp",
            "clock_timestamp",
            "random()",
            "nextval",
            "gen_",
        ] {
            assert!(!code.contains(word), "{} uses {word}", statement.name);
        }
    }
}

/// Each table that stands in a statement is joined by its tenant, or compared with `$1`: as many
/// comparisons of `tenant_id` as tables that are read or changed.
#[test]
fn every_join_is_on_the_tenant() {
    for statement in of_one_tenant() {
        let code = code(statement.sql);
        let tables = TENANT_TABLES.map(|table| {
            [
                format!("from {table}"),
                format!("join {table}"),
                format!("update {table}"),
            ]
            .map(|clause| {
                code.match_indices(&clause)
                    .filter(|(at, found)| {
                        !code[at + found.len()..]
                            .starts_with(|c: char| c.is_alphanumeric() || c == '_')
                    })
                    .count()
            })
            .iter()
            .sum::<usize>()
        });
        let comparisons = code.matches("tenant_id = ").count();
        let tables: usize = tables.iter().sum();
        assert!(
            comparisons >= tables,
            "{}: {tables} tables, {comparisons} comparisons",
            statement.name
        );
    }
}

/// Statements that change turns and leave the people to another one of the same transaction.
const PEOPLE_IN_THE_SAME_TRANSACTION: [(&str, &str); 3] = [
    ("erase_turns", "erase_users"),
    ("merge_turns", "merge_users"),
    ("undo_merge_turns", "undo_merge_users"),
];

/// docs/adr/0042: whatever a read shows of a person can be remembered by the person's version.
#[test]
fn every_statement_that_changes_turns_raises_the_persons_version() {
    let raises = |code: &str| {
        let at = code.find("update users");
        at.is_some_and(|at| {
            let rest: String = code[at..].split_whitespace().collect::<Vec<_>>().join(" ");
            ["version = version + 1", "version = u.version + 1"]
                .iter()
                .any(|raise| rest.contains(raise))
        })
    };
    let mut changing = 0;
    for statement in statement::all() {
        let text = code(statement.sql);
        let changes = ["insert into", "update", "delete from"]
            .iter()
            .any(|verb| text.contains(&format!("{verb} cross_channel_messages")));
        if !changes {
            continue;
        }
        changing += 1;
        let mut pairs = PEOPLE_IN_THE_SAME_TRANSACTION.iter();
        let raising = match pairs.find(|(name, _)| *name == statement.name) {
            Some((_, people)) => statement::all().find(|other| other.name == *people),
            None => Some(statement),
        };
        let raising = raising.map(|statement| code(statement.sql));
        assert!(
            raising.is_some_and(|text| raises(&text)),
            "{} changes turns and raises no version",
            statement.name
        );
    }
    assert!(changing > 7, "the list has lost its statements");
}
