//! When something is to be done: the five fields of cron, in UTC.

use std::fmt;

use chrono::{DateTime, Utc};
use croner::parser::{CronParser, Seconds, Year};
use throughline_domain::Timestamp;

/// A schedule such as `0 4 * * *`: minute, hour, day of month, month, day of week, always UTC.
#[derive(Clone)]
pub struct Cron {
    text: String,
    /// Some hundred bytes, in configurations that are copied.
    parsed: Box<croner::Cron>,
}

/// The text is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCron {
    /// Seconds, years or nicknames.
    #[error("a schedule has 5 fields (minute hour day month weekday, in UTC); this one has {0}")]
    Fields(usize),
    /// Something that is in no field of cron.
    #[error("a schedule is made of digits, names of months and weekdays, and '*', ',', '-', '/'")]
    Characters,
    /// Cron runs when either matches, other readers when both do: nobody is to guess.
    #[error("restrict the day of the month or the day of the week, not both")]
    BothDays,
    /// A field out of its range.
    #[error("the schedule cannot be read: {0}")]
    Unreadable(String),
    /// The thirtieth of February.
    #[error("the schedule never comes")]
    Never,
}

impl Cron {
    /// The longest text, in bytes.
    pub const MAX_BYTES: usize = 100;

    /// Reads five fields. What it accepts comes at least once in the next hundred years.
    pub fn parse(text: &str) -> Result<Self, InvalidCron> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b" \t*,-/".contains(&b);
        if text.len() > Self::MAX_BYTES || !text.bytes().all(allowed) {
            return Err(InvalidCron::Characters);
        }
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let &[_, _, day, _, weekday] = fields.as_slice() else {
            return Err(InvalidCron::Fields(fields.len()));
        };
        if !day.starts_with('*') && !weekday.starts_with('*') {
            return Err(InvalidCron::BothDays);
        }
        let text = fields.join(" ");
        let parsed = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .dom_and_dow(true)
            .build()
            .parse(&text)
            .map_err(|error| InvalidCron::Unreadable(error.to_string()))?;
        let cron = Self {
            text,
            parsed: Box::new(parsed),
        };
        cron.next_after(Timestamp::from_micros(0))
            .ok_or(InvalidCron::Never)?;
        Ok(cron)
    }

    /// The first moment after `moment` at which it is due.
    pub fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        let from = DateTime::<Utc>::from_timestamp_micros(moment.as_micros())?;
        let next = self.parsed.find_next_occurrence(&from, false).ok()?;
        Some(Timestamp::from_micros(next.timestamp_micros()))
    }

    /// The five fields, one space apart.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cron({})", self.text)
    }
}

impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Cron {}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(cron: &str, after: i64) -> String {
        let after = Timestamp::from_millis(after);
        Cron::parse(cron)
            .unwrap()
            .next_after(after)
            .unwrap()
            .to_string()
    }

    // R-140; 1_700_000_000 is 2023-11-14T22:13:20Z, a Tuesday.
    #[test]
    fn the_next_time_is_in_utc_and_never_now() {
        let at = 1_700_000_000_000;
        assert_eq!(next("0 4 * * *", at), "2023-11-15T04:00:00.000000Z");
        assert_eq!(next("*/2 * * * *", at), "2023-11-14T22:14:00.000000Z");
        assert_eq!(next(" 0  3 * * SUN ", at), "2023-11-19T03:00:00.000000Z");
        let four = 1_700_020_800_000;
        assert_eq!(next("0 4 * * *", four), "2023-11-16T04:00:00.000000Z");
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_its_reason() {
        let fault = |text: &str| Cron::parse(text).unwrap_err();
        assert_eq!(fault(""), InvalidCron::Fields(0));
        assert_eq!(fault("* * * *"), InvalidCron::Fields(4));
        assert_eq!(fault("0 0 4 * * *"), InvalidCron::Fields(6));
        assert_eq!(fault("@daily"), InvalidCron::Characters);
        assert_eq!(fault("0 4 * * ?"), InvalidCron::Characters);
        assert_eq!(fault("0 4 1 * MON"), InvalidCron::BothDays);
        assert_eq!(fault("0 4 30 2 *"), InvalidCron::Never);
        for unreadable in [
            "60 4 * * *",
            "0 24 * * *",
            "0 4 * 13 *",
            "0 4 * * 8",
            "*/0 * * * *",
            "a b * * *",
        ] {
            assert!(
                matches!(fault(unreadable), InvalidCron::Unreadable(_)),
                "{unreadable}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[ -~é\u{130}]{0,40}") {
            let _ = Cron::parse(&text);
        }

        #[test]
        fn fields_of_any_shape_are_read_or_refused(
            fields in proptest::collection::vec("[0-9*,/LW-]{1,6}|[A-Z]{3}", 5)
        ) {
            if let Ok(cron) = Cron::parse(&fields.join(" ")) {
                let now = Timestamp::from_millis(1_700_000_000_000);
                if let Some(next) = cron.next_after(now) {
                    proptest::prop_assert!(next > now);
                    proptest::prop_assert_eq!(next.as_micros() % 60_000_000, 0);
                }
                let again = Cron::parse(cron.as_str()).expect("its own text");
                proptest::prop_assert_eq!(again, cron);
            }
        }
    }
}
