//! Formatting of times.

use std::time::Duration;

/// A span as minutes and seconds: `12:05`.
pub fn minutes(span: Duration) -> String {
    let s = span.as_secs();
    format!("{}:{:02}", s / 60, s % 60)
}

/// An approximate duration, in a suitable unit.
pub(crate) fn about(span: Duration) -> String {
    let minutes = span.as_secs_f64() / 60.0;
    match minutes {
        ..120.0 => format!("{minutes:.0} min"),
        ..2880.0 => format!("{:.1} h", minutes / 60.0),
        _ => format!("{:.1} days", minutes / 1440.0),
    }
}

/// A time of day in UTC, as `2026-11-21 10:14`. `us` is counted from 1970.
pub fn utc(us: u64) -> String {
    let minutes = us / 60_000_000;
    let (days, minute) = (minutes / 1440, minutes % 1440);
    let (year, month, day) = date(days as i64);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        minute / 60,
        minute % 60
    )
}

/// A time in UTC to the microsecond, as `2026-11-21T10:14:05.250000Z`. `us` is counted from 1970.
pub fn iso(us: u64) -> String {
    let within = us % 60_000_000;
    let seconds = format!("{:02}.{:06}", within / 1_000_000, within % 1_000_000);
    format!("{}:{seconds}Z", utc(us).replace(' ', "T"))
}

/// The date `days` days after 1970-01-01 (Howard Hinnant, chrono-compatible low-level date
/// algorithms, `civil_from_days`).
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_date() {
        // date -u -d @SECONDS '+%F %R'
        for (seconds, text) in [
            (0, "1970-01-01 00:00"),
            (951_782_399, "2000-02-28 23:59"),
            (951_868_799, "2000-02-29 23:59"),
            (1_795_255_200, "2026-11-21 10:00"),
            (4_107_542_400, "2100-03-01 00:00"),
        ] {
            assert_eq!(utc(seconds * 1_000_000), text);
        }
        assert_eq!(iso(951_782_399_250_000), "2000-02-28T23:59:59.250000Z");
    }
}
