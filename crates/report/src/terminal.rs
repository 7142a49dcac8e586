//! Lab results as a table for terminals.

use analysis::repeats::{Spread, Summary, summaries};
use comfy_table::{Cell, CellAlignment, Table, presets};
use model::{figures::Figures, row::Row, safe};

use crate::number::{factor, percent, short};

type Value = fn(&Row) -> Option<f64>;

/// A column: heading, value, format.
struct Column(&'static str, Value, fn(f64) -> String);

const COLUMNS: [Column; 13] = [
    Column("goodput\nMbit/s", |r| r.goodput_mbps, short),
    Column(
        "retrans-\nmitted",
        |r| Some(r.retransmits? as f64 / (r.segments? as f64).max(1.0)),
        percent,
    ),
    Column("TCP RTT\np50 ms", |r| r.tcp_rtt_p50_ms, short),
    Column("idle RTT\np50 ms", |r| r.probe_idle_p50_ms, short),
    Column("loaded RTT\np50 ms", |r| r.probe_p50_ms, short),
    Column("loaded RTT\np99 ms", |r| r.probe_p99_ms, short),
    Column("queue (true)\np50 ms", |r| r.queue_p50_ms, short),
    Column("queue (true)\np99 ms", |r| r.queue_p99_ms, short),
    Column("loss\n(true)", |r| r.true_loss, percent),
    Column("datagrams\nlost", |r| r.udp_lost, percent),
    Column("jitter\nms", |r| r.udp_jitter_ms, short),
    Column("exchange\np50 ms", |r| r.short_p50_ms, short),
    Column("exchange\np99 ms", |r| r.short_p99_ms, short),
];

/// The table of rows, with published figures next to them if given.
pub fn table(rows: &[Row], figures: Option<&Figures>) -> String {
    let groups = summaries(rows);
    let keys = factor_keys(rows);
    let several_directions = groups
        .iter()
        .any(|g| g.first().direction != groups[0].first().direction);
    let crossed = groups.iter().any(|g| g.first().cross.is_some());
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|c| rows.iter().any(|r| c.1(r).is_some()))
        .collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let mut heading: Vec<String> = keys
        .iter()
        .map(|k| safe::line(&last_parts(k)).into_owned())
        .collect();
    if several_directions {
        heading.push("direction".to_owned());
    }
    if crossed {
        heading.push("traffic".to_owned());
    }
    heading.extend(columns.iter().map(|c| c.0.to_owned()));
    if figures.is_some() {
        heading.extend([
            "published\nMbit/s".to_owned(),
            "lab against\npublished".to_owned(),
        ]);
    }
    heading.push("n".to_owned());
    table.set_header(
        heading
            .iter()
            .map(|h| Cell::new(h).set_alignment(CellAlignment::Right)),
    );
    for group in &groups {
        let mut line: Vec<String> = keys
            .iter()
            .map(|k| group.first().factors.get(k).map(factor).unwrap_or_default())
            .collect();
        if several_directions {
            line.push(group.first().direction.to_string());
        }
        if crossed {
            line.push(
                group
                    .first()
                    .cross
                    .map_or("measured".to_owned(), |i| format!("cross {i}")),
            );
        }
        line.extend(columns.iter().map(|c| value(group, c)));
        if let Some(figures) = figures {
            line.extend(comparison(group, figures));
        }
        line.push(repeats(group));
        table.add_row(
            line.into_iter()
                .map(|c| Cell::new(safe::line(&c)).set_alignment(CellAlignment::Right)),
        );
    }
    format!("{}\n", table.trim_fmt())
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

fn value(group: &Summary<'_>, column: &Column) -> String {
    group
        .spread(column.1)
        .map_or_else(String::new, |spread| printed(&spread, column.2))
}

/// The median, with its interval unless both round to the same value.
fn printed(spread: &Spread, print: fn(f64) -> String) -> String {
    let middle = print(spread.median);
    match &spread.interval {
        Some(i) if print(i.low) != middle || print(i.high) != middle => {
            format!("{middle} [{}, {}]", print(i.low), print(i.high))
        }
        _ => middle,
    }
}

fn comparison(group: &Summary<'_>, figures: &Figures) -> [String; 2] {
    let published = figures.value(group.first(), "goodput_mbps");
    let spread = group.spread(|r| r.goodput_mbps);
    match (published, spread) {
        (Some(published), Some(spread)) => {
            let difference = spread.median / published - 1.0;
            let verdict = if difference.abs() <= figures.tolerance {
                "fits"
            } else {
                "differs"
            };
            [
                short(published),
                format!("{:+.1}% {verdict}", difference * 100.0),
            ]
        }
        (Some(published), None) => [short(published), String::new()],
        (None, _) => [String::new(), String::new()],
    }
}

/// Numbers of valid and invalid repeats.
fn repeats(group: &Summary<'_>) -> String {
    let valid = group.rows.iter().filter(|r| r.valid).count();
    match group.rows.len() - valid {
        0 => valid.to_string(),
        invalid => format!("{valid} (+{invalid} invalid)"),
    }
}
