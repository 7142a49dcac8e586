//! One step over time, measured and on the twin.

use maud::{Markup, html};
use model::{
    text::Value,
    twin::{COURSE_POINTS, TwinSeries},
};

use crate::{
    number::short,
    page::{
        chart::{Axis, Chart, Line, figure, round},
        charts::Charts,
        words::{Words, label},
    },
};

/// A column of the Run and of the twin, in the unit of the page.
struct Drawn {
    measured: Vec<Option<f64>>,
    twin: Vec<Option<f64>>,
}

impl Drawn {
    fn of(measured: &[Option<f64>], twin: &[Option<f64>], unit: f64) -> Self {
        let scaled = |column: &[Option<f64>]| {
            let all = column.iter().take(COURSE_POINTS);
            all.map(|v| v.map(|v| round(v / unit))).collect()
        };
        Self {
            measured: scaled(measured),
            twin: scaled(twin),
        }
    }

    /// Returns true if it has a value of both.
    fn is_full(&self) -> bool {
        let has = |column: &[Option<f64>]| column.iter().any(Option::is_some);
        has(&self.measured) && has(&self.twin)
    }
}

pub(super) fn html(series: &TwinSeries, words: &Words, charts: &mut Charts) -> Markup {
    let (run, twin) = (&series.measured, &series.twin);
    let goodput = Drawn::of(&run.goodput_bps, &twin.goodput_bps, 1e6);
    let rtt = Drawn::of(&run.probe_rtt_us, &twin.probe_rtt_us, 1e3);
    let load = words.key(&series.key, false);
    let mut drawn = Vec::new();
    for (id, axis, caption, column) in [
        (
            "twin-goodput",
            label::axis_goodput(),
            label::twin_goodput_time(load.as_str()),
            &goodput,
        ),
        (
            "twin-rtt",
            label::axis_round_trip(),
            label::twin_rtt_time(load.as_str()),
            &rtt,
        ),
    ] {
        if column.is_full() {
            let axis = words.label(axis);
            charts
                .drawn
                .push(chart(id, axis.clone(), series, column, words));
            let table = table(&axis, series, column, words);
            let values = words.label(label::values());
            drawn.push(figure(id, &words.label(caption), &values, &table));
        }
    }
    html! { @if !drawn.is_empty() {
        h3 { (words.label(label::twin_time(load.as_str()))) }
        p.note { (words.label(label::twin_time_note(Value::Us(series.dt_us as f64)))) }
        div.pair { @for one in &drawn { div { (one) } } }
    } }
}

/// Middle of a bucket, s after the load started.
fn middle_s(series: &TwinSeries, place: usize) -> f64 {
    (series.from_us as f64 + (place as f64 + 0.5) * series.dt_us as f64) / 1e6
}

/// Two lines, the Run's solid and the twin's dashed.
fn chart(id: &str, axis: String, series: &TwinSeries, column: &Drawn, words: &Words) -> Chart {
    let line = |name, colour, dash, values: &[Option<f64>]| Line {
        name,
        colour,
        dash,
        points: None,
        xy: values
            .iter()
            .enumerate()
            .filter_map(|(place, value)| Some([round(middle_s(series, place)), (*value)?]))
            .collect(),
        bars: Vec::new(),
    };
    let measured = words.label(label::twin_measured());
    let twin = words.label(label::twin_twin());
    Chart {
        id: id.to_owned(),
        x: Axis {
            label: words.label(label::axis_time()),
            log: false,
            from: None,
            to: None,
        },
        y: Axis {
            label: axis,
            log: false,
            from: Some(0.0),
            to: None,
        },
        series: vec![
            line(measured, 1, 0, &column.measured),
            line(twin, 2, 1, &column.twin),
        ],
    }
}

fn table(axis: &str, series: &TwinSeries, column: &Drawn, words: &Words) -> Markup {
    let rows = column.measured.len().max(column.twin.len());
    let cell = |values: &[Option<f64>], place: usize| {
        let value = values.get(place).copied().flatten();
        value.map(short).unwrap_or_default()
    };
    html! {
        div.wide tabindex="0" role="group" aria-label=(axis) {
            table.figures {
                caption { (axis) }
                thead { tr {
                    th.number scope="col" { (words.label(label::axis_time())) }
                    th.number scope="col" { (words.label(label::twin_measured())) }
                    th.number scope="col" { (words.label(label::twin_twin())) }
                } }
                tbody { @for place in 0..rows { tr {
                    th.number scope="row" { (format!("{:.2}", middle_s(series, place))) }
                    td.number { (cell(&column.measured, place)) }
                    td.number { (cell(&column.twin, place)) }
                } } }
            }
        }
    }
}
