//! A database for one test.

use std::sync::Arc;

use crate::Error;
use crate::shared::Inner;

/// A database on the run's server which is dropped, with its connections, when this guard is.
pub struct Database {
    name: String,
    url: String,
    kept: bool,
    server: Arc<Inner>,
}

impl Database {
    pub(crate) fn create(
        server: Arc<Inner>,
        name: String,
        template: Option<&str>,
    ) -> Result<Self, Error> {
        server.admin.create_database(&name, template)?;
        let url = server.admin.url.with_database(&name).text();
        Ok(Self {
            name,
            url,
            kept: false,
            server,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The connection URL, with the password, for the superuser.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs statements, each in its own transaction, and returns the rows as `psql -At` prints
    /// them.
    pub fn psql(&self, sql: &str) -> Result<String, Error> {
        self.server.admin.run(&self.name, sql)
    }

    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.kept {
            // A failure leaves the database to the end of the run, when the server goes or the
            // reaper drops what the run has left.
            let _ = self.server.admin.drop_database(&self.name);
        }
    }
}
