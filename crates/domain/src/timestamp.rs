//! A moment in UTC, to the microsecond: what Postgres keeps, so that both providers agree.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Microseconds since the Unix epoch, kept within what RFC 3339 can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const MIN_MICROS: i64 = -62_135_596_800_000_000;
const MAX_MICROS: i64 = 253_402_207_200_000_000;

impl Timestamp {
    /// The moment that many microseconds after the epoch; beyond the years 1 and 9999 it is clamped.
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.clamp(MIN_MICROS, MAX_MICROS))
    }

    /// The moment that many milliseconds after the epoch.
    pub fn from_millis(millis: i64) -> Self {
        Self::from_micros(millis.saturating_mul(1_000))
    }

    /// Cuts anything finer than a microsecond.
    pub fn from_system_time(time: SystemTime) -> Self {
        let micros = |d: Duration| i64::try_from(d.as_micros()).unwrap_or(i64::MAX);
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => Self::from_micros(micros(after)),
            Err(before) => Self::from_micros(-micros(before.duration())),
        }
    }

    /// For the database driver, which speaks `SystemTime`.
    pub fn to_system_time(self) -> SystemTime {
        let distance = Duration::from_micros(self.0.unsigned_abs());
        if self.0 >= 0 {
            UNIX_EPOCH + distance
        } else {
            UNIX_EPOCH - distance
        }
    }

    /// Microseconds since the epoch.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// Milliseconds since the epoch, rounded down.
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Later by that much.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// Earlier by that much.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_sub(micros))
    }

    /// How long after `earlier`; zero when it is not after.
    pub fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

/// RFC 3339 in UTC with six decimals, whatever the process's time zone is.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_microsecond(self.0)
            .expect("from_micros keeps the value within jiff's range");
        write!(f, "{moment:.6}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads RFC 3339; anything finer than a microsecond is cut.
impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let moment: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self::from_micros(moment.as_microsecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_prints_rfc_3339_with_six_decimals() {
        assert_eq!(
            Timestamp::from_millis(1_700_000_000_000).to_string(),
            "2023-11-14T22:13:20.000000Z"
        );
        assert_eq!(
            Timestamp::from_micros(-1).to_string(),
            "1969-12-31T23:59:59.999999Z"
        );
    }

    #[test]
    fn it_reads_what_it_prints() {
        for micros in [-1, 0, 1_700_000_000_123_456] {
            let moment = Timestamp::from_micros(micros);
            let text = serde_json::to_string(&moment).unwrap();
            assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), moment);
        }
        assert!(serde_json::from_str::<Timestamp>("\"yesterday\"").is_err());
    }

    #[test]
    fn extremes_are_clamped_to_what_can_be_printed() {
        assert_eq!(
            Timestamp::from_micros(i64::MAX).to_string(),
            "9999-12-30T22:00:00.000000Z"
        );
        assert_eq!(
            Timestamp::from_millis(i64::MIN).to_string(),
            "0001-01-01T00:00:00.000000Z"
        );
    }

    #[test]
    fn the_way_through_system_time_keeps_the_microsecond() {
        for micros in [-1_500_001, -1, 0, 1, 1_700_000_000_123_456] {
            let t = Timestamp::from_micros(micros);
            assert_eq!(Timestamp::from_system_time(t.to_system_time()), t);
        }
    }
}
