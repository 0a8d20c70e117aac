//! When a job runs.

use std::time::Duration;

use throughline_tenancy::{Cron, InvalidCron};

/// When a job runs by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At these times, in UTC.
    Cron(Cron),
    /// So long after the last start. A start that comes while the job still runs is dropped.
    Every(Duration),
    /// Never; it can still be triggered.
    Off,
}

/// The settings give no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSchedule {
    /// The cron text.
    #[error(transparent)]
    Cron(#[from] InvalidCron),
    /// An interval that would keep the job running all the time.
    #[error("an interval is at least one second")]
    TooShort,
}

impl Schedule {
    /// An interval wins over a cron text; with neither the job is off.
    pub fn of(cron: Option<&str>, interval: Option<Duration>) -> Result<Self, InvalidSchedule> {
        match (interval, cron.map(str::trim)) {
            (Some(interval), _) if interval < Duration::from_secs(1) => {
                Err(InvalidSchedule::TooShort)
            }
            (Some(interval), _) => Ok(Self::Every(interval)),
            (None, None | Some("")) => Ok(Self::Off),
            (None, Some(cron)) => Ok(Self::Cron(Cron::parse(cron)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //
    #[test]
    fn an_interval_wins_over_a_cron_text() {
        let minute = Duration::from_mins(1);
        let cron = Schedule::Cron(Cron::parse("0 4 * * *").unwrap());
        assert_eq!(Schedule::of(Some("0 4 * * *"), None), Ok(cron));
        assert_eq!(
            Schedule::of(Some("0 4 * * *"), Some(minute)),
            Ok(Schedule::Every(minute))
        );
        assert_eq!(Schedule::of(None, None), Ok(Schedule::Off));
        assert_eq!(Schedule::of(Some(" "), None), Ok(Schedule::Off));
    }

    #[test]
    fn what_would_never_rest_or_never_come_is_refused() {
        let fault = |cron, interval| Schedule::of(cron, interval).unwrap_err();
        assert_eq!(fault(None, Some(Duration::ZERO)), InvalidSchedule::TooShort);
        let text = fault(Some("0 0 4 * * *"), None).to_string();
        assert!(
            text.contains("5 fields") && text.contains("has 6"),
            "{text}"
        );
    }
}
