//! Plain text tables.

use comfy_table::{Cell, CellAlignment, Table, presets};
use model::{history::FigureName, run::FigureKind, safe};

/// A table with a heading; the columns in `right` (by index) are right-aligned.
pub fn table(heading: &[&str], right: &[usize], rows: Vec<Vec<String>>) -> String {
    let cells = |line: Vec<String>| {
        line.into_iter().enumerate().map(|(at, text)| {
            let alignment = if right.contains(&at) {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            };
            Cell::new(safe::line(&text)).set_alignment(alignment)
        })
    };
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(cells(heading.iter().map(|&text| text.to_owned()).collect()));
    for row in rows {
        table.add_row(cells(row));
    }
    format!("{}\n", table.trim_fmt())
}

/// The value of a figure with its unit, such as `94.1 Mbit/s`.
pub fn figure(kind: FigureKind, value: f64) -> String {
    crate::printed::printed(kind.unit()).with_unit(value)
}

/// The same for a series in a history; unknown figures have only the number.
pub fn named_figure(name: &FigureName, value: f64) -> String {
    match name.known() {
        Some(kind) => figure(*kind, value),
        None => crate::number::short(value),
    }
}
