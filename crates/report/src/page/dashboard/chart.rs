//! Charts as SVG without a script. Lines are stretched to the width of the page; numbers are text
//! outside of them, so that their size does not change on a phone.

use maud::{Markup, html};

use super::Series;
use crate::{
    page::words::{Words, label::dashboard},
    plain::named_figure,
    time,
};

/// Size of a chart in its own units.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 200.0;
/// Size of a sparkline.
const SPARK: (f64, f64) = (120.0, 28.0);

/// A small chart of values. One value is a point.
pub(super) fn spark(values: &[f64], name: &str) -> Markup {
    let (width, height) = SPARK;
    let scale = Scale::of(values.iter().copied());
    let step = width / values.len().saturating_sub(1).max(1) as f64;
    let at = |(number, value): (usize, &f64)| {
        let y = scale.of_height(*value, height - 4.0) + 2.0;
        format!("{:.1},{y:.1}", number as f64 * step)
    };
    let points: Vec<String> = values.iter().enumerate().map(at).collect();
    html! {
        @if !points.is_empty() {
            svg.spark viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(name) preserveAspectRatio="none" {
                polyline points=(line(&points)) {}
            }
        }
    }
}

/// A single point is drawn as a line of zero length, of which the round caps are visible.
fn line(points: &[String]) -> String {
    match points {
        [one] => format!("{one} {one}"),
        all => all.join(" "),
    }
}

/// A series with its intervals, its lasting changes and the changes of hosts.
pub(super) fn lines(series: &Series, tuned: &[(u64, String)], words: &Words) -> Markup {
    let points = &series.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return html! { p { (words.label(dashboard::no_points())) } };
    };
    let ends = points.iter().flat_map(|p| [p.low, p.high]).flatten();
    let scale = Scale::of(points.iter().map(|p| p.median).chain(ends));
    let (from, to) = (first.created_us, last.created_us);
    let x = |at_us: u64| {
        let span = (to - from).max(1) as f64;
        at_us.saturating_sub(from) as f64 / span * WIDTH
    };
    let y = |value: f64| scale.of_height(value, HEIGHT);
    let at = |at_us: u64, value: f64| format!("{:.1},{:.1}", x(at_us), y(value));
    let medians: Vec<String> = points.iter().map(|p| at(p.created_us, p.median)).collect();
    let bounded = || {
        points
            .iter()
            .filter_map(|p| Some((p.created_us, p.low?, p.high?)))
    };
    let lows: Vec<String> = bounded().map(|(t, low, _)| at(t, low)).collect();
    let highs = bounded().map(|(t, _, high)| at(t, high));
    let band: Vec<String> = highs.chain(lows.into_iter().rev()).collect();
    let show = |value: f64| named_figure(&series.name.figure, value);
    let within = |at_us: &u64| (from..=to).contains(at_us);
    html! {
        div.drawing {
            span.high-end { (show(scale.high)) }
            span.low-end { (show(scale.low)) }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                aria-label=(super::frame::series_name(&series.name, words)) {
                line.base x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                @if band.len() > 2 { polygon.band points=(band.join(" ")) {} }
                @for (at_us, _) in tuned.iter().filter(|(at, _)| within(at)) {
                    line.tuned x1=(x(*at_us)) x2=(x(*at_us)) y1="0" y2=(HEIGHT) {}
                }
                (levels(series, &scale, from, to))
                polyline.median points=(line(&medians)) {}
                @for point in &medians { polyline.dot points={ (point) " " (point) } {} }
            }
            span.from { (time::utc(from)) }
            span.to { (time::utc(to)) " UTC" }
        }
    }
}

/// The medians of the levels between lasting changes, and a line where each begins.
fn levels(series: &Series, scale: &Scale, from: u64, to: u64) -> Markup {
    let x = |at_us: u64| {
        let span = (to - from).max(1) as f64;
        format!("{:.1}", at_us.saturating_sub(from) as f64 / span * WIDTH)
    };
    let ends = series.changes.iter().skip(1).map(|c| c.at_us);
    let ends = ends.chain([to]);
    html! {
        @for (number, (change, end)) in series.changes.iter().zip(ends).enumerate() {
            @let (before, after) = (scale.of_height(change.before, HEIGHT), scale.of_height(change.after, HEIGHT));
            @if number == 0 {
                line.level x1="0" x2=(x(change.at_us)) y1=(before) y2=(before) {}
            }
            line.change x1=(x(change.at_us)) x2=(x(change.at_us)) y1="0" y2=(HEIGHT) {}
            line.level x1=(x(change.at_us)) x2=(x(end)) y1=(after) y2=(after) {}
        }
    }
}

/// The range of values that is drawn.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// The range of the values with a margin; never one of no size, and never below 0 for values
    /// that are not.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let finite = values.filter(|v| v.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self {
                low: 0.0,
                high: 1.0,
            };
        }
        let margin = match high - low {
            span if span > 0.0 => 0.1 * span,
            _ if high == 0.0 => 1.0,
            _ => 0.1 * high.abs(),
        };
        let floor = if low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
        Self {
            low: (low - margin).max(floor),
            high: high + margin,
        }
    }

    /// Returns the position of a value, from the top.
    fn of_height(&self, value: f64, height: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        height * (1.0 - share.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_value_is_near_the_top_and_even_values_are_in_the_drawing() {
        let scale = Scale::of([10.0, 20.0].into_iter());
        assert!(scale.of_height(20.0, 100.0) < scale.of_height(10.0, 100.0));
        for even in [0.0, 5.0, -5.0] {
            let scale = Scale::of([even; 3].into_iter());
            let y = scale.of_height(even, 100.0);
            assert!(
                (0.0..=100.0).contains(&y) && scale.high > scale.low,
                "{even}"
            );
        }
        let none = Scale::of([f64::NAN].into_iter());
        assert!(none.of_height(0.5, 100.0).is_finite());
    }
}
