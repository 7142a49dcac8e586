//! Ages, as `180d`.

use std::time::Duration;

use anyhow::{Result, anyhow};

/// A span of time in whole minutes, hours, days or weeks.
pub(crate) fn age(text: &str) -> Result<Duration> {
    let wrong = || anyhow!("write a whole number with m, h, d or w, such as 180d");
    let split = text
        .len()
        .checked_sub(1)
        .filter(|at| text.is_char_boundary(*at));
    let (number, unit) = text.split_at(split.ok_or_else(wrong)?);
    let seconds: u64 = match unit {
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(seconds).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        assert_eq!(age("2w").unwrap(), age("14d").unwrap());
        assert_eq!(age("90m").unwrap(), Duration::from_secs(5_400));
        for wrong in [
            "",
            "d",
            "180",
            "1.5d",
            "-1d",
            "5 d",
            "1y",
            "9999999999999999999d",
            "1é",
        ] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
