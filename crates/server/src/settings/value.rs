//! The kinds of value a setting can have: how each is read, shown, and what the help calls it.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use throughline_tenancy::Cron;
use tracing_subscriber::EnvFilter;

/// A kind of value. `read` and `show` are each other's inverse, except that a secret shows as `***`.
pub(crate) trait Value: Sized {
    /// What stands for the value in the help.
    const UNIT: &'static str;
    /// Never shown.
    const SECRET: bool = false;
    /// True when the flag alone is given.
    const SWITCH: bool = false;

    /// Reads the text; the error says what is accepted and does not repeat the text.
    fn read(text: &str) -> Result<Self, String>;

    /// The value when there is no text at all; only optional kinds have one.
    fn absent() -> Option<Self> {
        None
    }

    /// The text that reads back as this value; `None` when it is not set.
    fn show(&self) -> Option<String>;
}

impl<T: Value> Value for Option<T> {
    const UNIT: &'static str = T::UNIT;
    const SECRET: bool = T::SECRET;

    fn read(text: &str) -> Result<Self, String> {
        T::read(text).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn show(&self) -> Option<String> {
        self.as_ref().and_then(Value::show)
    }
}

impl Value for SecretString {
    const UNIT: &'static str = "SECRET";
    const SECRET: bool = true;

    fn read(text: &str) -> Result<Self, String> {
        Ok(Self::from(text))
    }

    fn show(&self) -> Option<String> {
        Some("***".to_owned())
    }
}

/// A text-typed switch.
impl Value for bool {
    const UNIT: &'static str = "true|false";
    const SWITCH: bool = true;

    fn read(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err("give true, 1, yes or on, or false, 0, no or off".to_owned()),
        }
    }

    fn show(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// A switch that is written out, such as `--jobs off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnOff(pub(crate) bool);

impl Value for OnOff {
    const UNIT: &'static str = "on|off";

    fn read(text: &str) -> Result<Self, String> {
        bool::read(text).map(Self)
    }

    fn show(&self) -> Option<String> {
        Some(if self.0 { "on" } else { "off" }.to_owned())
    }
}

/// Five cron fields, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule(pub(crate) Cron);

impl Value for Schedule {
    const UNIT: &'static str = "CRON";

    fn read(text: &str) -> Result<Self, String> {
        Cron::parse(text)
            .map(Self)
            .map_err(|fault| fault.to_string())
    }

    fn show(&self) -> Option<String> {
        Some(self.0.as_str().to_owned())
    }
}

impl Value for SocketAddr {
    const UNIT: &'static str = "ADDRESS:PORT";

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| "give an IP address and a port, such as 127.0.0.1:8080".to_owned())
    }

    fn show(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Value for PathBuf {
    const UNIT: &'static str = "FILE";

    fn read(text: &str) -> Result<Self, String> {
        Ok(Self::from(text))
    }

    fn show(&self) -> Option<String> {
        Some(self.display().to_string())
    }
}

/// A whole number within bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Between<const MIN: u32, const MAX: u32>(pub(crate) u32);

impl<const MIN: u32, const MAX: u32> Between<MIN, MAX> {
    /// As a size.
    pub(crate) fn as_usize(self) -> usize {
        self.0 as usize
    }

    /// As a number that is not zero; a setting whose bounds let zero in gives one.
    pub(crate) fn non_zero(self) -> NonZeroU32 {
        NonZeroU32::new(self.0).unwrap_or(NonZeroU32::MIN)
    }
}

impl<const MIN: u32, const MAX: u32> Value for Between<MIN, MAX> {
    const UNIT: &'static str = "NUMBER";

    fn read(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number) if (MIN..=MAX).contains(&number) => Ok(Self(number)),
            _ => Err(format!("give a whole number from {MIN} to {MAX}")),
        }
    }

    fn show(&self) -> Option<String> {
        Some(self.0.to_string())
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) usize);

const BYTE_UNITS: [(&str, usize); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl Value for ByteSize {
    const UNIT: &'static str = "BYTES";

    fn read(text: &str) -> Result<Self, String> {
        let (digits, factor) = BYTE_UNITS
            .iter()
            .find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
            .unwrap_or((text, 1));
        let bytes: Option<usize> = digits.trim().parse().ok();
        match bytes.and_then(|bytes| bytes.checked_mul(factor)) {
            Some(bytes) if bytes >= 1024 => Ok(Self(bytes)),
            _ => Err("give at least 1024 bytes, such as 4MiB, 512KiB or 65536".to_owned()),
        }
    }

    fn show(&self) -> Option<String> {
        let unit = BYTE_UNITS
            .iter()
            .find(|(_, factor)| self.0.is_multiple_of(*factor));
        Some(match unit {
            Some((unit, factor)) => format!("{}{unit}", self.0 / factor),
            None => self.0.to_string(),
        })
    }
}

/// A length of time within bounds in milliseconds, both included; up to a day when none are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span<const MIN: u64 = 0, const MAX: u64 = LONGEST_MS>(pub(crate) Duration);

// `ms` stands before `s`, whose suffix it also has.
const TIME_UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
const LONGEST_MS: u64 = 24 * 3_600_000;

impl<const MIN: u64, const MAX: u64> Value for Span<MIN, MAX> {
    const UNIT: &'static str = "TIME";

    fn read(text: &str) -> Result<Self, String> {
        let (digits, factor) = TIME_UNITS
            .iter()
            .find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
            .unwrap_or(("", 1));
        let number: Option<u64> = digits.trim().parse().ok();
        match number.and_then(|number| number.checked_mul(factor)) {
            Some(ms) if (MIN..=MAX).contains(&ms) => Ok(Self(Duration::from_millis(ms))),
            _ => Err(format!(
                "give a time with its unit, such as 500ms, 30s or 2m, from {} to {}",
                in_words(MIN),
                in_words(MAX)
            )),
        }
    }

    fn show(&self) -> Option<String> {
        // What was read fits by far.
        Some(in_words(u64::try_from(self.0.as_millis()).unwrap_or(MAX)))
    }
}

/// In the largest unit that says it exactly.
fn in_words(ms: u64) -> String {
    let unit = TIME_UNITS
        .iter()
        .rev()
        .find(|(_, factor)| ms > 0 && ms.is_multiple_of(*factor));
    match unit {
        Some((unit, factor)) => format!("{}{unit}", ms / factor),
        None => "0s".to_owned(),
    }
}

/// Requests a second, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(pub(crate) Option<NonZeroU32>);

impl Value for Rate {
    const UNIT: &'static str = "REQUESTS|off";

    fn read(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        text.parse()
            .map(|rate| Self(Some(rate)))
            .map_err(|_| "give requests a second, from 1, or off".to_owned())
    }

    fn show(&self) -> Option<String> {
        Some(self.0.map_or("off".to_owned(), |rate| rate.to_string()))
    }
}

/// Declares a closed set of words.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident, $unit:literal { $($(#[$word_doc:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$word_doc])* $variant,)+ }

        impl Value for $name {
            const UNIT: &'static str = $unit;

            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(concat!("give one of ", $unit).to_owned()),
                }
            }

            fn show(&self) -> Option<String> {
                Some(match self { $(Self::$variant => $word,)+ }.to_owned())
            }
        }
    )+};
}

words! {
    /// How statements are sent to Postgres.
    Statements, "prepared|unnamed" {
        /// Prepared once a connection.
        Prepared = "prepared",
        /// Parsed each time, for poolers in transaction mode.
        Unnamed = "unnamed",
    }
    /// How appends become transactions.
    Writing, "group|tenant|direct" {
        /// What has queued is committed together.
        Group = "group",
        /// The same for one tenant at a time.
        Tenant = "tenant",
        /// Each call alone.
        Direct = "direct",
    }
    /// What a log line looks like.
    LogFormat, "json|pretty" {
        /// One JSON object a line.
        Json = "json",
        /// For people.
        Pretty = "pretty",
    }
}

/// Which log lines are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogFilter(pub(crate) String);

impl Value for LogFilter {
    const UNIT: &'static str = "FILTER";

    fn read(text: &str) -> Result<Self, String> {
        match EnvFilter::try_new(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(_) => Err("give a level or target=level pairs, such as info or \
                           warn,throughline=debug"
                .to_owned()),
        }
    }

    fn show(&self) -> Option<String> {
        Some(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<T: Value>(text: &str) -> Result<String, String> {
        T::read(text).map(|value| value.show().unwrap_or_default())
    }

    //
    #[test]
    fn a_switch_reads_the_usual_words_and_nothing_else() {
        for yes in ["true", "1", "yes", "on", "YES", "On"] {
            assert_eq!(bool::read(yes), Ok(true), "{yes}");
        }
        for no in ["false", "0", "no", "off", "NO", "Off"] {
            assert_eq!(bool::read(no), Ok(false), "{no}");
        }
        for neither in ["", " ", "2", "y", "enabled", "true "] {
            assert!(bool::read(neither).is_err(), "{neither:?}");
        }
    }

    #[test]
    fn numbers_with_units_read_back_as_they_are_shown() {
        assert_eq!(shown::<ByteSize>("4MiB"), Ok("4MiB".to_owned()));
        assert_eq!(shown::<ByteSize>("65536"), Ok("64KiB".to_owned()));
        assert_eq!(shown::<ByteSize>("1025"), Ok("1025".to_owned()));
        assert_eq!(shown::<Span>("90s"), Ok("90s".to_owned()));
        assert_eq!(shown::<Span>("120s"), Ok("2m".to_owned()));
        assert_eq!(shown::<Span>("1500ms"), Ok("1500ms".to_owned()));
        assert_eq!(shown::<Span>("0s"), Ok("0s".to_owned()));
        for bad in ["", "4", "4 weeks", "-1s", "25h", "99999999999999999999h"] {
            assert!(<Span>::read(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "0", "4 MB", "-1", "99999999999999999999GiB"] {
            assert!(ByteSize::read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn bounds_are_part_of_the_kind() {
        type Percent = Between<1, 100>;
        assert_eq!(shown::<Percent>("100"), Ok("100".to_owned()));
        for bad in ["0", "101", "1.5", ""] {
            assert!(Percent::read(bad).is_err(), "{bad:?}");
        }
        type Moment = Span<1, 5_000>;
        for good in ["1ms", "5s"] {
            assert_eq!(shown::<Moment>(good), Ok(good.to_owned()));
        }
        for bad in ["0s", "5001ms", "1m"] {
            let wanted = Moment::read(bad).unwrap_err();
            assert!(wanted.ends_with("from 1ms to 5s"), "{wanted}");
        }
        assert_eq!(shown::<Rate>("off"), Ok("off".to_owned()));
        assert!(Rate::read("0").is_err());
        assert!(LogFilter::read("a=b=c").is_err());
    }
}
