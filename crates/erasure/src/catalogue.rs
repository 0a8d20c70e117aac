//! Every store of the service, named once, with what erasure does to it.
//!
//! A test on Postgres compares this list with the database, table by table and column by column: a
//! migration that adds one fails it until somebody has decided here. A store outside the database (a
//! spool, a cache) is listed by the crate that owns it.
