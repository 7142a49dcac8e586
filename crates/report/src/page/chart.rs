//! Charts: what the script draws, and what stands there for those who do not see it.

use maud::{Markup, html};
use serde::Serialize;

/// A chart of lines and points. The script finds its place by `id`.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    pub(super) id: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Line>,
}

/// An axis.
#[derive(Debug, Serialize)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) log: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<f64>,
}

/// What is drawn in one colour.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) name: String,
    /// Number of the colour, of those that colour-blind readers can tell apart.
    pub(super) colour: usize,
    /// Number of the pattern: 0 whole, then dashes.
    pub(super) dash: usize,
    /// Points of their own, not a line; an outline of which shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) points: Option<Shape>,
    /// Where it is.
    pub(super) xy: Vec<[f64; 2]>,
    /// Lower and upper ends of the intervals of points: x from, x to, y from, y to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) bars: Vec<[f64; 4]>,
}

/// Shape of a point.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shape {
    Disc,
    Square,
    Diamond,
    Triangle,
}

/// The colour of a congestion control: the usual ones have the same in every chart, the others what
/// is left.
pub(super) fn colour(cc: &str, all: &[&str]) -> usize {
    const USUAL: [&str; 3] = ["bbr", "cubic", "reno"];
    let others = all.iter().filter(|one| !USUAL.contains(one));
    USUAL
        .iter()
        .chain(others)
        .position(|one| *one == cc)
        .map_or(0, |place| place + 1)
}

/// A number for the page: four significant digits are more than a screen shows.
pub(super) fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let places = 3 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(places);
    (value * scale).round() / scale
}

/// The place of a chart: what it says in words, where it is drawn, and its values.
pub(super) fn figure(id: &str, says: &str, summary: &str, table: &Markup) -> Markup {
    html! {
        figure.chart {
            div.plot data-chart=(id) role="img" aria-label=(says) {}
            figcaption { (says) }
            details.values {
                summary { (summary) }
                (table)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_congestion_control_has_its_colour_whatever_stands_beside_it() {
        assert_eq!(
            colour("cubic", &["cubic"]),
            colour("cubic", &["bbr", "cubic"])
        );
        let all = ["cubic", "vegas", "westwood"];
        assert_eq!(all.map(|cc| colour(cc, &all)), [2, 4, 5]);
    }

    #[test]
    fn four_digits_are_kept() {
        let rounded = [123_456.0, 0.000_123_456, 1.0, 0.0, 99.999].map(round);
        assert_eq!(rounded, [123_500.0, 0.000_123_5, 1.0, 0.0, 100.0]);
    }
}
