//! No store can be forgotten: the catalogue of erasure against the database.

use throughline_erasure::catalogue::TABLES;

use super::scratch::migrated;

/// A migration that adds a table or a column fails here until somebody has said in the catalogue
/// what erasure does to it.
#[tokio::test]
async fn erasure_names_every_table_and_every_column() {
    let found = migrated()
        .await
        .psql(
            "select table_name || '.' || column_name from information_schema.columns \
             where table_schema = 'public' order by 1;",
        )
        .unwrap();
    let mut found: Vec<String> = found.lines().map(str::to_owned).collect();
    let mut named: Vec<String> = TABLES
        .iter()
        .flat_map(|store| {
            let columns = store.personal.iter().chain(store.other);
            columns.map(|column| format!("{}.{column}", store.table))
        })
        .collect();
    found.sort_unstable();
    named.sort_unstable();
    assert_eq!(found, named);
}
