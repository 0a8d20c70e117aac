//! The built binary as a process, as far as it needs no database: configuration, demo, serving from
//! memory, importing, stopping.

mod cli;
mod demo;
mod import;
mod running;
mod serve;
mod shutdown;
