//! A figure of the Run and of the twin: values, intervals, and both as marks on one scale.

use maud::{Markup, html};
use model::{
    run::{Key, Range},
    twin::{Fitted, HeldOut, TwinFigure, TwinSpread},
};

use crate::page::words::{Words, label};

/// Size of the inline chart of a row, and the places of both marks in it.
const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 30.0;
const MARGIN: f64 = 6.0;
const UPPER: f64 = 8.0;
const LOWER: f64 = 21.0;

/// A figure, measured and on the twin.
pub(super) struct Pair<'a> {
    pub(super) key: &'a Key,
    pub(super) figure: TwinFigure,
    measured: f64,
    n: Option<usize>,
    twin: f64,
    spread: TwinSpread,
}

impl<'a> From<&'a Fitted> for Pair<'a> {
    fn from(of: &'a Fitted) -> Self {
        Self {
            key: &of.key,
            figure: of.figure,
            measured: of.measured,
            n: Some(of.n),
            twin: of.twin,
            spread: of.spread,
        }
    }
}

impl<'a> From<&'a HeldOut> for Pair<'a> {
    fn from(of: &'a HeldOut) -> Self {
        Self {
            key: &of.key,
            figure: of.figure,
            measured: of.measured,
            n: None,
            twin: of.predicted,
            spread: of.spread,
        }
    }
}

impl Pair<'_> {
    /// The measured value, its interval or range, and the number of repeats.
    pub(super) fn measured(&self, words: &Words) -> Markup {
        let interval = self.spread.measured_interval.and_then(|[low, high]| {
            let [low, high] = self.ends(low, high)?;
            Some(words.label(label::tile_interval(low, high)))
        });
        let range = || self.range(self.spread.measured_range, words);
        let n = self.n.map(|n| words.label(label::repeats(n)));
        self.value(self.measured, [interval.or_else(range), n], words)
    }

    /// The value of the twin and its range.
    pub(super) fn twin(&self, words: &Words) -> Markup {
        let range = self.range(self.spread.twin_range, words);
        self.value(self.twin, [range, None], words)
    }

    fn value(&self, value: f64, below: [Option<String>; 2], words: &Words) -> Markup {
        html! {
            (words.value(&self.figure.value(value)))
            @if below.iter().any(Option::is_some) {
                span.interval { @for text in below.iter().flatten() { span { (text) } } }
            }
        }
    }

    fn range(&self, range: Option<Range>, words: &Words) -> Option<String> {
        let range = range?;
        let [low, high] = self.ends(range.low, range.high)?;
        Some(words.label(label::range(low, high)))
    }

    /// Both ends; `None` if they print equal.
    fn ends(&self, low: f64, high: f64) -> Option<[model::text::Value; 2]> {
        let ends = [low, high].map(|v| self.figure.value(v));
        (ends[0].to_string() != ends[1].to_string()).then_some(ends)
    }

    /// Measured as a disc above the twin as a diamond, from zero, each with its interval. A much
    /// wider interval is cut off at the edge with an arrow.
    pub(super) fn marks(&self) -> Markup {
        let measured = self.spread.measured_interval;
        let measured = measured.or(self.spread.measured_range.map(<[f64; 2]>::from));
        let twin = self.spread.twin_range.map(<[f64; 2]>::from);
        let scale = Scale::of(self, [measured, twin]);
        let (a, b) = (at(scale.x(self.measured)), scale.x(self.twin));
        let diamond = format!(
            "M{} {LOWER}L{} {}L{} {LOWER}L{} {}Z",
            at(b - 5.0),
            at(b),
            LOWER - 5.0,
            at(b + 5.0),
            at(b),
            LOWER + 5.0
        );
        html! {
            svg.strip aria-hidden="true" width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
                line.rule x1=(MARGIN) x2=(WIDTH - MARGIN) y1=(HEIGHT - 0.5) y2=(HEIGHT - 0.5) {}
                g.measured {
                    (scale.interval(measured, UPPER))
                    circle cx=(a) cy=(UPPER) r="4" {}
                }
                g.twin {
                    (scale.interval(twin, LOWER))
                    path d=(diamond) {}
                }
            }
        }
    }
}

/// From zero to a little above the largest value.
struct Scale(f64);

impl Scale {
    fn of(pair: &Pair<'_>, intervals: [Option<[f64; 2]>; 2]) -> Self {
        let least = match pair.figure {
            TwinFigure::Retransmitted => 1e-3,
            _ => 1.0,
        };
        let value = pair.measured.max(pair.twin).max(least);
        let ends = intervals.into_iter().flatten().map(|[_, high]| high);
        Self((1.1 * ends.fold(value, f64::max)).min(1.7 * value))
    }

    fn x(&self, value: f64) -> f64 {
        MARGIN + (value / self.0).clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN)
    }

    fn interval(&self, interval: Option<[f64; 2]>, y: f64) -> Markup {
        html! { @if let Some([low, high]) = interval {
            line x1=(at(self.x(low))) x2=(at(self.x(high))) y1=(y) y2=(y) {}
            @if high > self.0 {
                path.beyond d={ "M" (at(WIDTH - MARGIN - 1.0)) " " (at(y - 3.0)) "l5 3l-5 3z" } {}
            }
        } }
    }
}

fn at(place: f64) -> String {
    format!("{place:.1}")
}
