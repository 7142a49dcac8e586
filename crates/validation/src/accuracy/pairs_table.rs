//! Tables of pairs, sets and series.

use std::{collections::BTreeMap, fmt::Write as _};

use model::run::Key;

use super::{
    count::{Count, Found, percent},
    many::{Many, SETS, WITHIN},
    pairs::{Pool, Row},
};

/// All of it, with intervals as if pairs were independent.
pub fn markdown(pools: &[Pool], rows: &[Row], many: &Many) -> String {
    let mut out = String::from("Runs:");
    for pool in pools {
        let _ = write!(out, " {} {},", pool.runs.len(), pool.path.name());
    }
    out.pop();
    out.push_str(".\n\n");
    together(&mut out, rows, many);
    each(
        &mut out,
        "goodput",
        rows,
        many,
        |row| &row.slower,
        &many.slower,
        &many.trends_found(),
    );
    each(
        &mut out,
        "P99",
        rows,
        many,
        |row| &row.later,
        &many.later,
        &BTreeMap::new(),
    );
    out
}

fn together(out: &mut String, rows: &[Row], many: &Many) {
    out.push_str(
        "| repeats | no change: worse or better | slower: a goodput worse | each goodput | \
         later: a P99 worse | each P99 |\n|---|---|---|---|---|---|\n",
    );
    let mut line = |name: &str, false_alarms: Count, slower: &Found, later: &Found| {
        let counts = [
            false_alarms,
            slower.any,
            slower.all(),
            later.any,
            later.all(),
        ];
        let cells = counts.map(|count| count.to_string()).join(" | ");
        let _ = writeln!(out, "| {name} | {cells} |");
    };
    for row in rows {
        line(
            &row.repeats.to_string(),
            row.false_alarms,
            &row.slower,
            &row.later,
        );
    }
    let (base, last) = SETS;
    let name = format!("{last} runs against {base}");
    line(&name, many.false_alarms, &many.slower, &many.later);
    let trend = |of: fn(&super::many::Trend) -> Count| {
        many.trends
            .values()
            .map(of)
            .fold(Count::default(), Count::and)
    };
    let _ = writeln!(
        out,
        "\nTrend of a goodput over {} runs and {WITHIN} slower ones: a change reported among the last {WITHIN} in {}, before in {}.",
        many.before,
        trend(|t| t.found),
        trend(|t| t.early),
    );
}

/// A line for each step: its variation, and the share of changes that were found, in %.
fn each(
    out: &mut String,
    figure: &str,
    rows: &[Row],
    many: &Many,
    of: fn(&Row) -> &Found,
    sets: &Found,
    trends: &BTreeMap<&Key, Count>,
) {
    let Some(last) = rows.last() else {
        return;
    };
    let with_trends = !trends.is_empty();
    let _ = write!(out, "\n| {figure} |");
    if with_trends {
        out.push_str(" runs vary by, % |");
    }
    for row in rows {
        let _ = write!(out, " {} repeats |", row.repeats);
    }
    let _ = write!(out, " {} runs against {} |", SETS.1, SETS.0);
    if with_trends {
        let _ = write!(out, " trend, {WITHIN} runs |");
    }
    let columns = rows.len() + 2 + 2 * usize::from(with_trends);
    let _ = writeln!(out, "\n|{}", "---|".repeat(columns));
    for key in of(last).each.keys() {
        let _ = write!(out, "| {key} |");
        if with_trends {
            let noise = many.noise.get(key).map(|n| format!("{:.2}", 100.0 * n));
            let _ = write!(out, " {} |", noise.unwrap_or_default());
        }
        for row in rows {
            let _ = write!(out, " {} |", percent(of(row).each.get(key)));
        }
        let _ = write!(out, " {} |", percent(sets.each.get(key)));
        if with_trends {
            let _ = write!(out, " {} |", percent(trends.get(key)));
        }
        out.push('\n');
    }
}
