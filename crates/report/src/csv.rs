//! Samples of a run as CSV (RFC 4180), for spreadsheets and programs that do not read JSON.

use model::{
    run::{Run, SampleRow},
    safe,
};
use serde_json::Value;

/// A header line, then one line per sample with the fields of the flat rows. Values that were not
/// measured are empty; several reasons are separated by semicolons.
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

/// A field: numbers unchanged, since they may begin with a minus; text escaped against formulas.
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
