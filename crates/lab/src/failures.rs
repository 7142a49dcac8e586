//! Failed cells, grouped by reason, so that each reason is reported once.

use model::cell::Cell;

/// Cells that are named with a reason; further ones are counted.
const NAMED: usize = 10;

/// The failures of a run so far.
#[derive(Debug, Default)]
pub struct Failures {
    reasons: Vec<Reason>,
}

#[derive(Debug)]
struct Reason {
    /// The text without its digits: process ids and addresses differ from cell to cell.
    key: String,
    /// The cells that failed for it.
    cells: Vec<String>,
}

impl Failures {
    /// Adds a failure; returns a message if the reason is new.
    pub fn add(&mut self, cell: &Cell, error: &str) -> Option<String> {
        let factors = serde_json::to_string(&cell.factors).unwrap_or_default();
        self.note(format!("cell {factors} seed {}", cell.seed), error)
    }

    fn note(&mut self, cell: String, error: &str) -> Option<String> {
        let key: String = error.chars().filter(|c| !c.is_ascii_digit()).collect();
        if let Some(reason) = self.reasons.iter_mut().find(|reason| reason.key == key) {
            reason.cells.push(cell);
            return None;
        }
        let text = format!("{cell}: {error}");
        let cells = vec![cell];
        self.reasons.push(Reason { key, cells });
        Some(text)
    }

    /// Returns the number of failed cells.
    pub fn count(&self) -> usize {
        self.reasons.iter().map(|reason| reason.cells.len()).sum()
    }

    /// Messages at the end of a run of `total` cells, about reasons that occurred repeatedly.
    pub fn summary(&self, total: usize) -> Vec<String> {
        match self.reasons.as_slice() {
            [only] if total > 1 && only.cells.len() == total => {
                vec![format!("all {total} cells failed for this one reason")]
            }
            reasons => reasons.iter().filter_map(Reason::others).collect(),
        }
    }
}

impl Reason {
    /// The cells after the first, with which the reason was reported.
    fn others(&self) -> Option<String> {
        let (first, others) = self.cells.split_first()?;
        let named = others.get(..NAMED.min(others.len()))?;
        if named.is_empty() {
            return None;
        }
        let more = match others.len() - named.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        Some(format!(
            "failed for the same reason as {first}: {}{more}",
            named.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_fails_for_one_reason_reports_it_once() {
        let mut failures = Failures::default();
        let messages: Vec<_> = (0..24)
            .filter_map(|n| {
                failures.note(
                    format!("cell {{}} seed {n}"),
                    &format!("the guest ended without a result: process {n} died"),
                )
            })
            .collect();
        assert_eq!(
            messages,
            ["cell {} seed 0: the guest ended without a result: process 0 died"]
        );
        assert_eq!(
            failures.summary(24),
            ["all 24 cells failed for this one reason"]
        );
        assert_eq!(failures.count(), 24);
    }

    #[test]
    fn where_some_cells_ran_the_others_are_named() {
        let mut failures = Failures::default();
        for (cell, why) in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")] {
            failures.note(cell.to_owned(), why);
        }
        assert_eq!(
            failures.summary(9),
            ["failed for the same reason as a: c, d"]
        );
    }

    #[test]
    fn a_single_cell_that_failed_needs_no_summary() {
        let mut failures = Failures::default();
        failures.note("a".to_owned(), "x");
        assert!(failures.summary(1).is_empty());
    }
}
