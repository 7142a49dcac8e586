//! A plain table of words.

use comfy_table::{Cell, CellAlignment, Table, presets};

/// A table with a heading; columns named in `right` (by their place) are aligned to the right.
pub fn table(heading: &[&str], right: &[usize], rows: Vec<Vec<String>>) -> String {
    let cells = |line: Vec<String>| {
        line.into_iter().enumerate().map(|(at, text)| {
            let alignment = if right.contains(&at) {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            };
            Cell::new(text).set_alignment(alignment)
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

/// The value of a figure in its unit, such as `94.1 Mbit/s`.
pub fn figure(kind: &str, value: f64) -> String {
    let unit = crate::run::unit(kind);
    format!("{}{}", (unit.print)(value), unit.name)
}
