//! Rows of a matrix that do not count.

use analysis::repeats::reasons;
use model::row::Row;

use crate::say::say;

/// Says on standard error why rows do not count, the most frequent reasons first.
pub(super) fn say_why(rows: &[Row]) {
    let invalid = rows.iter().filter(|row| !row.valid).count();
    if invalid == 0 {
        return;
    }
    say!("pathtwin: {invalid} of {} rows do not count:", rows.len());
    for (reason, count) in reasons(rows) {
        say!("  {count}: {}", model::safe::line(&reason.to_string()));
    }
}

/// Returns true if there are rows, and none counts.
pub(super) fn is_all(rows: &[Row]) -> bool {
    !rows.is_empty() && rows.iter().all(|row| !row.valid)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::{row::Rows, text::Text};

    use super::*;

    fn row(invalid_because: &[&'static str]) -> Row {
        let text = r#"{"schema": 1, "name": "n", "factors": {}, "seed": 1, "layer": "underlay",
            "direction": "down", "flows": 1, "valid": true, "kernel": "7.2", "virtual_s": 1.0,
            "digest": ""}"#;
        let mut row = Rows::parse(text.as_bytes()).unwrap().rows.remove(0);
        row.valid = invalid_because.is_empty();
        row.invalid_because = invalid_because.iter().map(|why| Text::fixed(why)).collect();
        row
    }

    /// Bug: where no row of a matrix counts, the exit code was 0 and no reason was printed.
    #[test]
    fn a_matrix_counts_if_a_row_does_and_reasons_are_in_order() {
        let rows = [row(&["few"]), row(&["often", "few"]), row(&["often"])];
        assert!(is_all(&rows) && !is_all(&[]));
        assert!(!is_all(&[row(&["often"]), row(&[])]));
        let rows: Vec<Row> = rows.into_iter().chain([row(&["often"])]).collect();
        let [first, second] = &reasons(&rows)[..] else {
            panic!("two reasons");
        };
        assert_eq!(first, &(&Text::fixed("often"), 3));
        assert_eq!(second, &(&Text::fixed("few"), 2));
    }
}
