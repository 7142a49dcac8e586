//! The samples of a run as CSV (RFC 4180), for spreadsheets and for programs that do not read JSON.

use model::{
    run::{Run, SampleRow},
    safe,
};
use serde_json::Value;

/// A line of names, and one for each sample: the fields of the flat rows. What was not measured is
/// empty; several reasons are one text, with semicolons between.
pub fn csv(run: &Run) -> String {
    let mut out = line(SampleRow::COLUMNS.iter().map(ToString::to_string));
    for row in analysis::rows::rows(run) {
        let row = serde_json::to_value(row).unwrap_or_default();
        out.push_str(&line(
            SampleRow::COLUMNS.iter().map(|name| text(&row[*name])),
        ));
    }
    out
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let fields: Vec<String> = fields.collect();
    format!("{}\n", fields.join(","))
}

/// A field: numbers as they are, since a minus begins many of them; text so that no spreadsheet
/// runs it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) => number.to_string(),
        other => safe::csv(&words(other)),
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}
