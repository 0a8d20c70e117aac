//! Whether the schema fits this binary, and making it fit.

use throughline_provider_postgres::{
    MigrateError, MigrationReport, PostgresConfig, PostgresStore, SchemaError, SchemaStatus,
};

use crate::failure::{Failure, chain};

/// Why the schema could not be made sure of.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The database does not answer; it may come back.
    Away(String),
    /// Waiting will not help.
    Wrong(Failure),
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Away(reason) => Self::failed("database_unavailable", reason),
            Trouble::Wrong(failure) => failure,
        }
    }
}

/// Refuses a schema that this binary cannot work with, with what to do about it.
pub(crate) async fn check(store: &PostgresStore) -> Result<(), Trouble> {
    match store.schema_status().await {
        Ok(status) => verify(status).map_err(Trouble::Wrong),
        Err(error @ SchemaError::Unavailable(_)) => Err(Trouble::Away(chain(&error))),
        Err(SchemaError::Altered { version }) => Err(Trouble::Wrong(altered(version))),
        Err(error) => Err(Trouble::Wrong(Failure::failed(
            "schema_damaged",
            chain(&error),
        ))),
    }
}

fn altered(version: i64) -> Failure {
    let text = format!(
        "migration {version} was applied with another checksum than this binary's; run the binary \
         it came from, an applied migration is never edited"
    );
    Failure::failed("schema_altered", text)
}

/// The same for a status that is known.
fn verify(status: SchemaStatus) -> Result<(), Failure> {
    match status {
        SchemaStatus::UpToDate => Ok(()),
        SchemaStatus::Missing => Err(Failure::failed(
            "schema_missing",
            "the database has no schema yet; run throughline migrate, or serve --migrate",
        )),
        SchemaStatus::Behind { applied, known } => Err(Failure::failed(
            "schema_behind",
            format!(
                "the schema is at version {applied}, this binary needs {known}; run throughline \
                 migrate, or serve --migrate"
            ),
        )),
        SchemaStatus::Ahead { applied, known } => Err(ahead(applied, known)),
    }
}

fn ahead(applied: i64, known: i64) -> Failure {
    let text = format!(
        "the schema is at version {applied}, this binary knows it up to {known}; run a newer binary"
    );
    Failure::failed("schema_ahead", text)
}

/// Applies what is outstanding; the report in words.
pub(crate) async fn migrate(config: &PostgresConfig) -> Result<String, Trouble> {
    match throughline_provider_postgres::migrate(config).await {
        Ok(report) => Ok(words(&report)),
        Err(error @ MigrateError::Unreachable(_)) => Err(Trouble::Away(chain(&error))),
        Err(MigrateError::Ahead { applied, known }) => Err(Trouble::Wrong(ahead(applied, known))),
        Err(MigrateError::Altered { version }) => Err(Trouble::Wrong(altered(version))),
        Err(error @ MigrateError::Url(_)) => Err(Trouble::Wrong(Failure::usage(
            "invalid_database",
            chain(&error),
        ))),
        Err(error) => Err(Trouble::Wrong(Failure::failed(
            "migration_failed",
            chain(&error),
        ))),
    }
}

fn words(MigrationReport { applied, version }: &MigrationReport) -> String {
    match applied.len() {
        0 => format!("the schema is up to date at version {version}"),
        1 => format!("1 migration applied; the schema is at version {version}"),
        some => format!("{some} migrations applied; the schema is at version {version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_does_not_fit_is_refused_with_what_to_do() {
        assert!(verify(SchemaStatus::UpToDate).is_ok());
        let refusal = |status| verify(status).unwrap_err().to_string();
        let (applied, known) = (1, 2);
        assert_eq!(
            refusal(SchemaStatus::Behind { applied, known }),
            "schema_behind: the schema is at version 1, this binary needs 2; run throughline migrate, or serve --migrate"
        );
        assert!(refusal(SchemaStatus::Missing).contains("run throughline migrate"));
        let (applied, known) = (3, 2);
        assert!(refusal(SchemaStatus::Ahead { applied, known }).ends_with("run a newer binary"));
    }

    #[test]
    fn a_migration_tells_what_it_did() {
        let report = |applied| {
            words(&MigrationReport {
                applied,
                version: 2,
            })
        };
        assert_eq!(report(vec![]), "the schema is up to date at version 2");
        assert_eq!(
            report(vec![1, 2]),
            "2 migrations applied; the schema is at version 2"
        );
    }
}
