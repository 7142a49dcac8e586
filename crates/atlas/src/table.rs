//! The table of all cells: CSV, one line for each.

use crate::cell::{Cell, Factor, Figure};

/// Name of its file.
pub const FILE: &str = "cells.csv";

/// Columns before the factors.
const FIRST: [&str; 2] = ["spec", "cell"];
/// Columns after the figures.
const LAST: [&str; 2] = ["valid", "digest"];

/// Text that is not a table of this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Other columns.
    #[error("the header of the table is not {0}")]
    Header(String),
    /// A line with a wrong number of columns, or a text where a number should be.
    #[error("line {0} of the table is damaged")]
    Line(usize),
}

fn header() -> String {
    let factors = Factor::ALL.iter().map(|factor| factor.name());
    let figures = Figure::ALL.iter().map(|figure| figure.name());
    let names = FIRST.into_iter().chain(factors).chain(figures).chain(LAST);
    names.collect::<Vec<_>>().join(",")
}

/// The table of cells. A figure that was not measured is empty. No field contains a comma.
pub fn csv(cells: &[Cell]) -> String {
    let mut text = format!("{}\n", header());
    for cell in cells {
        let mut fields = vec![cell.spec.clone(), cell.index.to_string()];
        fields.extend(Factor::ALL.map(|factor| cell.level(factor).to_owned()));
        let figure = |figure| cell.figure(figure).map(|value| value.to_string());
        fields.extend(Figure::ALL.map(|f| figure(f).unwrap_or_default()));
        fields.extend([cell.valid.to_string(), cell.digest.clone()]);
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

/// The cells of a table.
///
/// # Errors
/// The text is not a table of this version.
pub fn parse(text: &str) -> Result<Vec<Cell>, TableError> {
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, line)| line) != Some(header().as_str()) {
        return Err(TableError::Header(header()));
    }
    let cell = |(at, line): (usize, &str)| line_of(line).ok_or(TableError::Line(at + 1));
    lines.map(cell).collect()
}

fn line_of(line: &str) -> Option<Cell> {
    let fields: Vec<&str> = line.split(',').collect();
    let (factors, figures) = (Factor::ALL.len(), Figure::ALL.len());
    if fields.len() != FIRST.len() + factors + figures + LAST.len() {
        return None;
    }
    let (first, rest) = fields.split_at(FIRST.len());
    let (settings, rest) = rest.split_at(factors);
    let (measured, last) = rest.split_at(figures);
    let mut levels: [String; Factor::ALL.len()] = Default::default();
    for (level, text) in levels.iter_mut().zip(settings) {
        (*text).clone_into(level);
    }
    let mut values = [None; Figure::ALL.len()];
    for (value, text) in values.iter_mut().zip(measured) {
        *value = match *text {
            "" => None,
            text => Some(text.parse().ok()?),
        };
    }
    let names = [first[0].to_owned(), last[1].to_owned()];
    let index = first[1].parse().ok()?;
    Some(Cell::new(
        names,
        index,
        last[0].parse().ok()?,
        levels,
        values,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_read_back_is_the_table_that_was_written() {
        let levels = ["100mbit", "20ms", "cake", "1%", "none", "1", "bbr"].map(str::to_owned);
        let mut figures = [None; Figure::ALL.len()];
        figures[0] = Some(93.51);
        let names = ["atlas-100mbit", "00ff"].map(str::to_owned);
        let cells = [Cell::new(names, 7, true, levels, figures)];
        let text = csv(&cells);
        assert_eq!(parse(&text), Ok(cells.to_vec()));
        assert_eq!(parse("a,b\n"), Err(TableError::Header(header())));
        let cut = &text[..text.len() - 20];
        assert_eq!(parse(cut), Err(TableError::Line(2)));
    }
}
