//! What a setting is, and the macro that holds the list of them.

/// The heading a setting stands under in `--help` and in the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Where the data is.
    Database,
    /// Listening and its limits.
    Http,
    /// Logs, metrics, stopping.
    Operation,
    /// What runs by the clock.
    Jobs,
    /// What new tenants start with.
    Tenants,
    /// Trying it without a database.
    Development,
}

impl Section {
    /// The heading.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Database => "Database",
            Self::Http => "HTTP",
            Self::Operation => "Operation",
            Self::Jobs => "Jobs",
            Self::Tenants => "New tenants",
            Self::Development => "Development",
        }
    }
}

/// One setting, as it is declared in the table and shown everywhere else.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Its name in the file; flag and environment name are made from it.
    pub(crate) key: &'static str,
    /// Its heading.
    pub(crate) section: Section,
    /// What it does.
    pub(crate) help: &'static str,
    /// What is written in place of a value in the help.
    pub(crate) unit: &'static str,
    /// The value when nobody gives one.
    pub(crate) default: Option<&'static str>,
    /// A value to show in the samples when there is no default.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the samples are written by a test")
    )]
    pub(crate) example: &'static str,
    /// Never printed, and also read from a file named by the `_FILE` environment variable.
    pub(crate) secret: bool,
    /// The flag stands for `true` when it has no value.
    pub(crate) switch: bool,
}

impl Setting {
    /// The flag without its dashes.
    pub(crate) fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// The environment variable.
    pub(crate) fn env(&self) -> String {
        format!("CCM_{}", self.key.to_ascii_uppercase())
    }

    /// Its help with a single space between words, whatever the source's line breaks are.
    pub(crate) fn help(&self) -> String {
        self.help.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Declares each setting once: the typed field, and its row in the table.
macro_rules! settings {
    ($($section:ident { $($(#[doc = $help:literal])+ $key:ident: $type:ty = $default:expr, $example:literal;)+ })+) => {
        /// Every setting, parsed and in range.
        pub(crate) struct Settings {
            $($($(#[doc = $help])+ pub(crate) $key: $type,)+)+
        }

        /// The table: one row a setting, in the order of the help and the samples.
        pub(crate) const TABLE: &[$crate::settings::Setting] = &[
            $($($crate::settings::Setting {
                key: stringify!($key),
                section: $crate::settings::Section::$section,
                help: concat!($($help),+),
                unit: <$type as $crate::settings::value::Value>::UNIT,
                default: $default,
                example: $example,
                secret: <$type as $crate::settings::value::Value>::SECRET,
                switch: <$type as $crate::settings::value::Value>::SWITCH,
            },)+)+
        ];

        impl Settings {
            /// Parses what the sources gave; the first value that is not usable is the error.
            pub(crate) fn parse(given: &$crate::settings::sources::Given) -> Result<Self, $crate::failure::Failure> {
                Ok(Self { $($($key: given.read(stringify!($key))?,)+)+ })
            }

            /// Each setting with its value as text; a secret's is `***`.
            pub(crate) fn shown(&self) -> Vec<(&'static str, Option<String>)> {
                vec![$($((stringify!($key), $crate::settings::value::Value::show(&self.$key)),)+)+]
            }
        }
    };
}
pub(crate) use settings;
