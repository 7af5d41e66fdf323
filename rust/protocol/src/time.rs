//! Time as the events carry it.

use serde::{Deserialize, Serialize};

/// A moment in milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

impl UnixMillis {
    /// Writes a day as `2024-02-29`, in UTC.
    ///
    /// Days are counted from a March, so that the leap day is a year's last, and a cycle of 400 years
    /// has 146,097 of them.
    pub fn date(self) -> String {
        // 719,468 days lie between 0000-03-01 and 1970-01-01.
        let days = self.0 / MILLIS_PER_DAY + 719_468;
        let (cycle, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let (month_day, january_on) = (day - (153 * month + 2) / 5 + 1, month >= 10);
        let month = if january_on { month - 9 } else { month + 3 };
        format!("{:04}-{month:02}-{month_day:02}", cycle * 400 + year + u64::from(january_on))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_in_the_calendar() {
        let days = [
            (0, "1970-01-01"),
            (1_709_164_799_999, "2024-02-28"),
            (1_709_164_800_000, "2024-02-29"),
            (1_709_251_200_000, "2024-03-01"),
            (951_782_400_000, "2000-02-29"),
            (4_107_542_400_000, "2100-03-01"),
            (1_735_689_599_999, "2024-12-31"),
            (1_735_689_600_000, "2025-01-01"),
        ];
        for (millis, shown) in days {
            assert_eq!(UnixMillis(millis).date(), shown, "{millis}");
        }
    }
}
