//! The commands, one file each.

//P pub(crate) mod admin;
//P pub(crate) mod demo;
pub(crate) mod import;
//P pub(crate) mod migrate;
//P pub(crate) mod serve;
pub(crate) mod version;
