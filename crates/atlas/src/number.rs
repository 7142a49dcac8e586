//! Numbers of the table and of texts.

/// Digits of a figure in the table. More of them would not mean more: another seed changes the
/// second or third one.
const DIGITS: usize = 4;

/// A figure as the table has it.
pub(crate) fn rounded(value: f64) -> f64 {
    let text = format!("{value:.*e}", DIGITS - 1);
    text.parse().unwrap_or(value)
}

/// A number in a text, with three significant digits.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A level of a factor for people: `100 Mbit/s`, `20 ms`, `0.1 %`.
pub(crate) fn level(text: &str) -> String {
    let one = |word: &str| {
        let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.');
        match digits.map(|at| word.split_at(at)) {
            Some((number, unit)) if !number.is_empty() => match unit {
                "mbit" => format!("{number} Mbit/s"),
                unit => format!("{number} {unit}"),
            },
            _ => word.to_owned(),
        }
    };
    let words: Vec<String> = text.split(' ').map(one).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        assert_eq!(rounded(94.123_456), 94.12);
        assert_eq!(rounded(0.001_234_567), 0.001_235);
        assert_eq!(rounded(0.0), 0.0);
    }

    #[test]
    fn levels_have_a_space_before_their_unit() {
        let levels = ["100mbit", "fifo 10ms", "0.01%", "1 flow beside cubic"].map(level);
        let expected = ["100 Mbit/s", "fifo 10 ms", "0.01 %", "1 flow beside cubic"];
        assert_eq!(levels, expected);
    }
}
