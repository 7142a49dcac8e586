//! Lab results as a table for terminals.

use analysis::repeats::{Spread, Summary, summaries};
use model::{
    figures::Figures,
    row::{Row, RowFigure},
    safe,
};

use crate::{
    fit,
    number::{factor, short},
    printed::printed,
};

/// A column: heading, figure, importance.
struct Column(&'static str, RowFigure, u8);

const COLUMNS: [Column; 13] = [
    Column("goodput\nMbit/s", RowFigure::Goodput, 100),
    Column("retrans-\nmitted", RowFigure::Retransmitted, 60),
    Column("TCP RTT\np50 ms", RowFigure::TcpRttP50, 40),
    Column("idle RTT\np50 ms", RowFigure::ProbeIdleP50, 50),
    Column("loaded RTT\np50 ms", RowFigure::ProbeP50, 90),
    Column("loaded RTT\np99 ms", RowFigure::ProbeP99, 70),
    Column("queue (true)\np50 ms", RowFigure::QueueP50, 30),
    Column("queue (true)\np99 ms", RowFigure::QueueP99, 20),
    Column("loss\n(true)", RowFigure::TrueLoss, 55),
    Column("datagrams\nlost", RowFigure::UdpLost, 80),
    Column("jitter\nms", RowFigure::UdpJitter, 45),
    Column("exchange\np50 ms", RowFigure::ShortP50, 85),
    Column("exchange\np99 ms", RowFigure::ShortP99, 65),
];

/// The table of rows, with published figures next to them if given. Within a `width`, columns that
/// do not fit are left out, the least important first.
pub fn table(rows: &[Row], figures: Option<&Figures>, width: Option<usize>) -> String {
    let groups = summaries(rows);
    let keys = factor_keys(rows);
    let several_directions = groups
        .iter()
        .any(|g| g.first().direction != groups[0].first().direction);
    let crossed = groups.iter().any(|g| g.first().cross.is_some());
    let shown: Vec<&Column> = COLUMNS
        .iter()
        .filter(|c| rows.iter().any(|r| c.1.of(r).is_some()))
        .collect();
    let mut columns: Vec<fit::Column> = keys
        .iter()
        .map(|k| column(&safe::line(&last_parts(k)), fit::ALWAYS))
        .collect();
    if several_directions {
        columns.push(column("direction", fit::ALWAYS));
    }
    if crossed {
        columns.push(column("traffic", fit::ALWAYS));
    }
    columns.extend(shown.iter().map(|c| column(c.0, c.2)));
    if figures.is_some() {
        columns.push(column("published\nMbit/s", 97));
        columns.push(column("lab against\npublished", 98));
    }
    columns.push(column("n", fit::ALWAYS));
    let mut lines = Vec::new();
    for group in &groups {
        let first = group.first();
        let mut line: Vec<String> = keys
            .iter()
            .map(|k| first.factors.get(k).map(factor).unwrap_or_default())
            .collect();
        if several_directions {
            line.push(first.direction.to_string());
        }
        if crossed {
            let cross = first.cross.map(|i| format!("cross {i}"));
            line.push(cross.unwrap_or_else(|| "measured".to_owned()));
        }
        line.extend(shown.iter().map(|c| value(group, c.1)));
        if let Some(figures) = figures {
            line.extend(comparison(group, figures));
        }
        line.push(repeats(group));
        lines.push(line);
    }
    fit::table(&columns, &lines, width)
}

fn column(heading: &str, importance: u8) -> fit::Column {
    fit::Column {
        heading: heading.to_owned(),
        right: true,
        importance,
    }
}

/// Keys of the matrix, in alphabetical order.
pub(crate) fn factor_keys(rows: &[Row]) -> Vec<String> {
    let mut keys: Vec<String> = rows
        .iter()
        .flat_map(|r| r.factors.keys().cloned())
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

/// The last two parts of a key: `ends.server.cc` is shown as `server.cc`.
fn last_parts(key: &str) -> String {
    let parts: Vec<&str> = key.split('.').collect();
    parts[parts.len().saturating_sub(2)..].join(".")
}

fn value(group: &Summary<'_>, figure: RowFigure) -> String {
    group
        .spread(|row| figure.of(row))
        .map_or_else(String::new, |spread| {
            shown(&spread, printed(figure.unit()).print)
        })
}

/// The median, with its interval unless both round to the same value.
fn shown(spread: &Spread, print: fn(f64) -> String) -> String {
    let middle = print(spread.median);
    let ends = |low: f64, high: f64| [print(low), print(high)];
    let pair = match (&spread.interval, &spread.range) {
        (Some(i), _) => (ends(i.low, i.high), ["[", ", ", "]"]),
        (None, Some(i)) => (ends(i.low, i.high), ["(", " to ", ")"]),
        (None, None) => return middle,
    };
    let ([low, high], [open, between, close]) = pair;
    match low == middle && high == middle {
        true => middle,
        false => format!("{middle} {open}{low}{between}{high}{close}"),
    }
}

fn comparison(group: &Summary<'_>, figures: &Figures) -> [String; 2] {
    let Some(published) = group.published(figures) else {
        return [String::new(), String::new()];
    };
    let verdict = published.deviation.map(|by| {
        let verdict = if figures.tolerates(by) {
            "fits"
        } else {
            "differs"
        };
        format!("{:+.1} % {verdict}", by * 100.0)
    });
    [short(published.goodput_mbps), verdict.unwrap_or_default()]
}

/// Numbers of valid and invalid repeats.
fn repeats(group: &Summary<'_>) -> String {
    let valid = group.rows.iter().filter(|r| r.valid).count();
    match group.rows.len() - valid {
        0 => valid.to_string(),
        invalid => format!("{valid} (+{invalid} invalid)"),
    }
}
