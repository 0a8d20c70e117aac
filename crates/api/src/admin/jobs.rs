//! `/admin/jobs`

mod run;

pub(crate) use run::run;
