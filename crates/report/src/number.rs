//! Formatting of numbers.

use model::text::Value;

/// A number with three significant digits, or all digits before the point.
pub(crate) fn short(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        m if m >= 100.0 => format!("{value:.0}"),
        m if m >= 10.0 => format!("{value:.1}"),
        m if m >= 1.0 || m == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A share as a percentage, as in texts.
pub(crate) fn percent(share: f64) -> String {
    Value::Share(share).to_string()
}

/// A matrix value as written in the spec.
pub(crate) fn factor(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_mean_something() {
        let printed = [946.82, 37.84, 1.234, 0.0, 0.01234].map(short);
        assert_eq!(printed, ["947", "37.8", "1.23", "0.00", "0.012"]);
        assert_eq!(percent(0.0105), "1.05 %");
    }
}
