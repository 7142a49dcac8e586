//! Output of the table of attacks.

use crate::case::{Row, Verdict};

/// Label of a verdict.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Broken => "BROKEN",
        Verdict::Failed => "could not be made",
        Verdict::Skipped => "skipped",
    }
}

/// A row as text.
pub fn text(row: &Row) -> String {
    let mut text = format!("{}: {}\n", row.name, word(row.verdict));
    text += &format!("  attack: {}\n  bound:  {}\n", row.attack, row.bound);
    for seen in &row.seen {
        let mark = if row.broken.contains(seen) {
            "BROKEN"
        } else {
            "seen"
        };
        // Output caused by an attack may contain anything.
        text += &format!("  {mark}: {}\n", seen.escape_debug());
    }
    text
}

/// Rows as a table in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = "| attack | bound | seen | verdict |\n|---|---|---|---|\n".to_owned();
    for row in rows {
        let seen: Vec<_> = row.seen.iter().map(|s| cell(s)).collect();
        text += &format!(
            "| `{}`: {} | {} | {} | {} |\n",
            row.name,
            cell(row.attack),
            cell(row.bound),
            seen.join("; "),
            word(row.verdict)
        );
    }
    text
}

fn cell(text: &str) -> String {
    let safe: String = text.escape_debug().collect();
    safe.replace("\\\"", "\"")
        .replace("\\'", "'")
        .replace('|', "\\|")
        .replace('<', "&lt;")
}
