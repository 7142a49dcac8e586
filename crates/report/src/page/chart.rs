//! Charts and their text alternatives.

use maud::{Markup, html};
use serde::Serialize;

/// A chart of lines and points. The script finds its element by `id`.
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

/// A data series.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) name: String,
    /// Index in a palette for colour-blind readers.
    pub(super) colour: usize,
    /// Index of the line pattern: 0 solid, then dashes.
    pub(super) dash: usize,
    /// Draw points of this shape instead of a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) points: Option<Shape>,
    /// Coordinates.
    pub(super) xy: Vec<[f64; 2]>,
    /// Error bars of points: x from, x to, y from, y to.
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

/// The colour of a congestion control: common ones have a fixed colour, others one of the rest.
pub(super) fn colour(cc: &str, all: &[&str]) -> usize {
    const USUAL: [&str; 3] = ["bbr", "cubic", "reno"];
    let others = all.iter().filter(|one| !USUAL.contains(one));
    USUAL
        .iter()
        .chain(others)
        .position(|one| *one == cc)
        .map_or(0, |place| place + 1)
}

/// A number rounded to four significant digits for the page.
pub(super) fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let places = 3 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(places);
    (value * scale).round() / scale
}

/// The element of a chart, with caption and table of values.
pub(super) fn figure(id: &str, caption: &str, summary: &str, table: &Markup) -> Markup {
    html! {
        figure.chart {
            div.plot data-chart=(id) role="img" aria-label=(caption) {}
            figcaption { (caption) }
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
    fn a_congestion_control_has_the_same_colour_in_any_combination() {
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
