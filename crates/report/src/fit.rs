//! Tables no wider than a terminal: the least important columns are left out, and named.

use comfy_table::{Cell, CellAlignment, Table, presets};
use model::safe;

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its heading, of one line or more.
    pub(crate) heading: String,
    /// True if its cells are aligned to the right.
    pub(crate) right: bool,
    /// The least important column is left out first.
    pub(crate) importance: u8,
}

/// A column that is never left out.
pub(crate) const ALWAYS: u8 = u8::MAX;

/// Characters between two columns.
const BETWEEN: usize = 2;

/// The table. Within a `width`, columns that do not fit are left out, and named below it.
pub(crate) fn table(columns: &[Column], rows: &[Vec<String>], width: Option<usize>) -> String {
    let widths: Vec<usize> = (0..columns.len())
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            let lines = columns[at].heading.lines().chain(cells.map(String::as_str));
            lines.map(|text| text.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let shown = shown(columns, &widths, width.unwrap_or(usize::MAX));
    let cells = |row: &[String]| -> Vec<Cell> {
        let kept = shown.iter().filter_map(|at| Some((row.get(*at)?, *at)));
        kept.map(|(text, at)| {
            let side = match columns[at].right {
                true => CellAlignment::Right,
                false => CellAlignment::Left,
            };
            Cell::new(text).set_alignment(side)
        })
        .collect()
    };
    let heading: Vec<String> = columns.iter().map(|c| c.heading.clone()).collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(cells(&heading));
    for row in rows {
        let row: Vec<String> = row.iter().map(|c| safe::line(c).into_owned()).collect();
        table.add_row(cells(&row));
    }
    let left_out: Vec<String> = (0..columns.len())
        .filter(|at| !shown.contains(at))
        .map(|at| columns[at].heading.replace("-\n", "").replace('\n', " "))
        .collect();
    let mut text = format!("{}\n", table.trim_fmt());
    if !left_out.is_empty() {
        let words = format!("too wide for the terminal: {}", left_out.join(", "));
        text.push_str(&crate::wrap::within(&words, "", width.unwrap_or(80)));
    }
    text
}

/// The columns that fit, in their order.
fn shown(columns: &[Column], widths: &[usize], width: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let needed = |shown: &[usize]| -> usize {
        let cells: usize = shown.iter().map(|at| widths[*at] + BETWEEN).sum();
        cells.saturating_sub(1)
    };
    while needed(&shown) > width {
        let least = shown
            .iter()
            .filter(|at| columns[**at].importance < ALWAYS)
            .min_by_key(|at| columns[**at].importance)
            .copied();
        match least {
            Some(least) => shown.retain(|at| *at != least),
            None => break,
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        [
            ("path.loss", ALWAYS),
            ("goodput\nMbit/s", 90),
            ("cwnd", 10),
            ("RTT\nms", 50),
        ]
        .map(|(heading, importance)| Column {
            heading: heading.to_owned(),
            right: true,
            importance,
        })
        .to_vec()
    }

    /// The table of a matrix was 190 characters wide on a terminal of 80.
    #[test]
    fn the_least_important_columns_are_left_out_and_named() {
        let row = ["0.5%", "7.03 [6.73, 7.66]", "12345678", "24.8 [24.7, 24.9]"];
        let rows = vec![row.map(str::to_owned).to_vec()];
        for width in [30, 40, 50, 60] {
            let text = table(&columns(), &rows, Some(width));
            assert!(text.lines().all(|l| l.chars().count() <= width), "{text}");
            assert!(text.contains("7.03 [6.73, 7.66]"), "{text}");
        }
        let narrow = table(&columns(), &rows, Some(40));
        assert!(narrow.contains("terminal: cwnd, RTT ms"), "{narrow}");
        let whole = table(&columns(), &rows, None);
        assert!(whole.contains("12345678") && !whole.contains("terminal"));
    }
}
