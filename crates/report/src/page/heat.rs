//! Heat maps of a matrix: tables of two factors, one for each combination of the others. Colours
//! supplement the numbers and do not replace them.

use analysis::repeats::{Summary, summaries};
use maud::{Markup, html};
use model::row::{Row, RowFigure};

use super::words::{Words, label};
use crate::{number::factor, printed::printed, terminal::factor_keys};

/// Shades, from the lowest value to the highest.
const SHADES: usize = 9;

/// The figures with a table each.
const SHOWN: [RowFigure; 4] = [
    RowFigure::Goodput,
    RowFigure::ProbeP50,
    RowFigure::QueueP99,
    RowFigure::Retransmitted,
];

/// The factors of a table, and the levels of each in the order of the spec.
struct Axes {
    across: Option<(String, Vec<String>)>,
    down: Option<(String, Vec<String>)>,
    /// Combinations of the other factors and the direction, with a table each.
    others: Vec<String>,
    several_directions: bool,
}

impl Axes {
    /// The factor with the most levels is in columns, the next one in rows.
    fn new(rows: &[Row], words: &Words) -> Self {
        let mut factors: Vec<(String, Vec<String>)> = factor_keys(rows)
            .into_iter()
            .map(|key| {
                let levels = unique(rows.iter().map(|r| level(r, &key)));
                (key, levels)
            })
            .filter(|(_, levels)| levels.len() > 1)
            .collect();
        factors.sort_by_key(|(_, levels)| std::cmp::Reverse(levels.len()));
        let mut factors = factors.into_iter();
        let mut axes = Self {
            across: factors.next(),
            down: factors.next(),
            others: Vec::new(),
            several_directions: rows.iter().any(|r| r.direction != rows[0].direction),
        };
        axes.others = unique(rows.iter().map(|r| axes.other(r, words)));
        axes
    }

    fn is(&self, row: &Row, [across, down]: [usize; 2]) -> bool {
        let at = |axis: &Option<(String, Vec<String>)>, place: usize| {
            axis.as_ref()
                .is_none_or(|(key, levels)| levels.get(place) == Some(&level(row, key)))
        };
        at(&self.across, across) && at(&self.down, down)
    }

    /// The combination of other factors of a row.
    fn other(&self, row: &Row, words: &Words) -> String {
        let along = [&self.across, &self.down];
        let is_axis = |key: &String| {
            along
                .iter()
                .any(|a| a.as_ref().is_some_and(|(k, _)| k == key))
        };
        let mut parts: Vec<String> = row
            .factors
            .keys()
            .filter(|key| !is_axis(key))
            .map(|key| format!("{} {}", last(key), level(row, key)))
            .collect();
        if self.several_directions {
            parts.push(words.direction(row.direction));
        }
        parts.join(&words.label(label::comma()))
    }
}

fn level(row: &Row, key: &str) -> String {
    row.factors.get(key).map(factor).unwrap_or_default()
}

/// The last part of a key.
pub(super) fn last(key: &str) -> String {
    let parts: Vec<&str> = key.split('.').collect();
    parts[parts.len().saturating_sub(2)..].join(".")
}

fn unique(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

pub(super) fn html(rows: &[Row], words: &Words) -> Markup {
    let axes = Axes::new(rows, words);
    let groups = summaries(rows);
    html! {
        div.heats { @for figure in SHOWN { (tables(figure, &axes, &groups, words)) } }
    }
}

fn tables(figure: RowFigure, axes: &Axes, groups: &[Summary<'_>], words: &Words) -> Markup {
    let values: Vec<f64> = groups
        .iter()
        .filter_map(|g| Some(g.spread(|row| figure.of(row))?.median))
        .collect();
    let Some(scale) = Scale::new(&values) else {
        return html! {};
    };
    let counts: Vec<usize> = groups
        .iter()
        .filter_map(|g| Some(g.spread(|row| figure.of(row))?.n))
        .collect();
    let unit = printed(figure.unit())
        .symbol
        .map(|symbol| words.value(&symbol));
    // Shown once if it is the same everywhere.
    let n = counts
        .first()
        .copied()
        .filter(|n| counts.iter().all(|c| c == n));
    html! {
        @for other in &axes.others {
            @let name = words.render(&figure.words()).text;
            div.wide tabindex="0" role="group" aria-label={ (name) " " (other) } {
                table.heat {
                    caption { (model::text::capital(&name)) @if let Some(unit) = &unit { span.unit { (unit) } }
                        @if !other.is_empty() { span.place { (other) } }
                        @if let Some(n) = n { span.place { (words.label(label::repeats(n))) } } }
                    thead { tr {
                        th scope="col" { (corner(axes)) }
                        @match &axes.across {
                            Some((_, levels)) => { @for level in levels { th scope="col" { (level) } } },
                            None => th scope="col" { (words.label(label::heat_value())) },
                        }
                    } }
                    tbody {
                        @let down = axes.down.as_ref().map_or(1, |(_, levels)| levels.len());
                        @for y in 0..down { tr {
                            th scope="row" { (axes.down.as_ref().map_or("", |(_, levels)| levels[y].as_str())) }
                            @let across = axes.across.as_ref().map_or(1, |(_, levels)| levels.len());
                            @for x in 0..across {
                                @let group = groups.iter().find(|g| axes.is(g.first(), [x, y]) && axes.other(g.first(), words) == *other);
                                (cell(group, figure, &scale, n.is_none(), words))
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// Names of the row and column factors.
fn corner(axes: &Axes) -> Markup {
    let name = |axis: &Option<(String, Vec<String>)>| axis.as_ref().map(|(key, _)| last(key));
    html! {
        @if let Some(down) = name(&axes.down) { span { (down) " ↓" } }
        @if let Some(across) = name(&axes.across) { span { (across) " →" } }
    }
}

fn cell(
    group: Option<&Summary<'_>>,
    figure: RowFigure,
    scale: &Scale,
    count: bool,
    words: &Words,
) -> Markup {
    let print = printed(figure.unit()).print;
    let spread = group.and_then(|g| g.spread(|row| figure.of(row)));
    html! {
        @match spread {
            Some(spread) => {
                td class={ "h" (scale.shade(spread.median)) } {
                    data value=(spread.median) { ((print)(spread.median)) }
                    span.interval {
                        @if let Some(i) = spread.interval.or(spread.range) {
                            @let (low, high) = ((print)(i.low), (print)(i.high));
                            @if low != high { (low) "–" (high) " " }
                        }
                        @if count { (words.label(label::repeats(spread.n))) }
                    }
                }
            }
            None => td.none { (words.label(label::unknown())) },
        }
    }
}

/// Mapping from value to shade: logarithmic if the values differ by a factor of ten, otherwise
/// linear.
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    pub(super) fn new(values: &[f64]) -> Option<Self> {
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some(Self {
            low,
            high,
            log: low > 0.0 && high > 10.0 * low,
        })
    }

    pub(super) fn shade(&self, value: f64) -> usize {
        let of = |v: f64| if self.log { v.ln() } else { v };
        let span = of(self.high) - of(self.low);
        if span <= 0.0 {
            return SHADES / 2;
        }
        let share = (of(value) - of(self.low)) / span;
        ((share * SHADES as f64) as usize).min(SHADES - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_value_is_the_lightest_and_the_highest_the_darkest() {
        let scale = Scale::new(&[3.0, 93.0, 47.0, 5.0]).unwrap();
        assert!(scale.log);
        assert_eq!(scale.shade(3.0), 0);
        assert_eq!(scale.shade(93.0), SHADES - 1);
        assert!(scale.shade(5.0) < scale.shade(47.0));
    }

    #[test]
    fn values_that_are_all_the_same_have_the_middle_shade() {
        let scale = Scale::new(&[24.0, 24.0]).unwrap();
        assert_eq!(scale.shade(24.0), SHADES / 2);
        assert!(Scale::new(&[]).is_none());
    }
}
