//! Rows of a matrix that do not count.

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
        say!("  {count}: {}", model::safe::line(&reason));
    }
}

/// Returns true if there are rows, and none counts.
pub(super) fn is_all(rows: &[Row]) -> bool {
    !rows.is_empty() && rows.iter().all(|row| !row.valid)
}

fn reasons(rows: &[Row]) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for reason in rows.iter().flat_map(|row| &row.invalid_because) {
        let reason = reason.to_string();
        match all.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => all.push((reason, 1)),
        }
    }
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}
