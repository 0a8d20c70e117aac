//! Databases that are prepared once per run and copied for every test.

use std::fs::File;
use std::path::PathBuf;

use crate::database::Database;
use crate::psql::quote_identifier;
use crate::scratch_dir::write_private;
use crate::{Error, Shared};

/// What is known about a template.
pub enum Template {
    Ready(Ready),
    /// Nobody has prepared it yet, and nobody else will while this is held.
    Missing(Missing),
}

/// A prepared template.
pub struct Ready {
    shared: Shared,
    name: String,
}

impl Ready {
    pub(crate) fn new(shared: Shared, name: String) -> Self {
        Self { shared, name }
    }

    /// A copy of the template for one test.
    pub fn database(&self) -> Result<Database, Error> {
        let (inner, name) = (self.shared.inner().clone(), self.shared.fresh_name());
        Database::create(inner, name, Some(&self.name))
    }
}

/// An empty database to be filled and then published. Dropped instead of published, it is
/// removed, and the next one who asks may try.
pub struct Missing {
    draft: Database,
    ready: Ready,
    marker: PathBuf,
    /// Let go of last, hence declared last.
    _lock: File,
}

impl Missing {
    pub(crate) fn begin(ready: Ready, marker: PathBuf, lock: File) -> Result<Self, Error> {
        let (inner, name) = (ready.shared.inner().clone(), ready.shared.fresh_name());
        let draft = Database::create(inner, name, None)?;
        Ok(Self {
            draft,
            ready,
            marker,
            _lock: lock,
        })
    }

    /// The URL of the empty database.
    pub fn url(&self) -> &str {
        self.draft.url()
    }

    /// Ends all connections to the database, closes it for new ones and makes it the template.
    pub fn publish(mut self) -> Result<Ready, Error> {
        let (draft, template) = (self.draft.name(), &self.ready.name);
        let literal = draft.replace('\'', "''");
        let (draft, template) = (quote_identifier(draft), quote_identifier(template));
        // Closed first, so that no pool comes back after its connections were ended. A template of
        // this name without a marker is of somebody who was killed between the two.
        let sql = format!(
            "alter database {draft} allow_connections false;
             select pg_terminate_backend(pid) from pg_stat_activity where datname = '{literal}';
             drop database if exists {template} with (force);
             alter database {draft} rename to {template};"
        );
        self.ready.shared.inner().admin.maintain(&sql)?;
        self.draft.keep();
        write_private(&self.marker, "")?;
        Ok(self.ready)
    }
}
