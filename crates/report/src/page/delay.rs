//! Delay distributions, idle and under load.

use analysis::{
    distribution::Distribution,
    view::{DirectionView, Load, View},
};
use maud::{Markup, html};
use model::{
    net::{Direction, Layer},
    run::{Run, StepKind},
    text::Value,
};

use super::{
    chart::{self, Axis, Chart, Line, figure, round},
    charts::Charts,
    words::{Words, label},
};
use crate::number::short;

/// The RTTs of one line.
struct Group {
    name: String,
    cc: Option<String>,
    layer: Layer,
    all: Distribution,
    /// The figures `rtt_p50_us`, `rtt_p95_us` and `rtt_p99_us`.
    percentiles_us: [Option<f64>; 3],
}

impl Group {
    /// RTT, ms, and cumulative share of the probes, percent.
    fn curve(&self) -> Vec<[f64; 2]> {
        let point = |[us, share]: [f64; 2]| [round(us / 1e3), share * 100.0];
        self.all.curve().into_iter().map(point).collect()
    }
}

pub(super) fn html(run: &Run, words: &Words, charts: &mut Charts) -> Option<Markup> {
    let mut drawn = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        let groups = groups(run, direction, words);
        if !groups.iter().any(|g| g.cc.is_some()) {
            continue;
        }
        let id = match direction {
            Direction::Down => "delay-down",
            Direction::Up => "delay-up",
        };
        charts.drawn.push(drawing(id, &groups, words));
        let title = words.label(label::delay_load(direction));
        drawn.push(html! {
            h3 { (title) }
            (figure(id, &caption(&groups, words), &words.label(label::values()), &table(&groups, words)))
        });
    }
    (!drawn.is_empty()).then(|| {
        html! {
            p.note { (words.label(label::delay_note())) }
            div.pair { @for one in &drawn { div { (one) } } }
        }
    })
}

/// Idle probes of each layer, then each congestion control with the fewest flows.
fn groups(run: &Run, direction: Direction, words: &Words) -> Vec<Group> {
    let Some(view) = View::new(run) else {
        return Vec::new();
    };
    let mut groups = Vec::new();
    for view in [view.underlay(), Some(view)].into_iter().flatten() {
        groups.extend(idle(&view, words));
        let dir = view.direction(direction);
        let loads = dir.single_loads();
        groups.extend(loads.iter().map(|load| loaded(&dir, load, words)));
    }
    groups.retain(|g| !g.all.is_empty());
    groups
}

fn idle(view: &View<'_>, words: &Words) -> Option<Group> {
    let idle = view.idle()?;
    let samples = view.samples().filter(|s| s.key.step == StepKind::Idle);
    Some(Group {
        name: format!(
            "{} · {}",
            words.layer(view.layer),
            words.label(label::idle())
        ),
        cc: None,
        layer: view.layer,
        all: Distribution::of(samples),
        percentiles_us: [Some(idle.p50_us), idle.p95_us, idle.p99_us],
    })
}

fn loaded(dir: &DirectionView<'_>, load: &Load, words: &Words) -> Group {
    // A run without named congestion controls has one line for all loads.
    let name = match load.cc.as_str() {
        "" => words.label(label::step_tcp()),
        cc => cc.to_owned(),
    };
    let layer = dir.view.layer;
    Group {
        name: format!("{} · {name}", words.layer(layer)),
        cc: Some(name),
        layer,
        all: Distribution::of(dir.samples_of(load)),
        percentiles_us: [load.probe_p50_us, load.probe_p95_us, load.probe_p99_us],
    }
}

fn drawing(id: &str, groups: &[Group], words: &Words) -> Chart {
    let least = groups
        .iter()
        .filter_map(|g| g.all.min_us())
        .fold(f64::INFINITY, f64::min);
    let most = groups
        .iter()
        .filter_map(|g| g.all.max_us())
        .fold(0.0, f64::max);
    let mut ccs: Vec<&str> = groups.iter().filter_map(|g| g.cc.as_deref()).collect();
    ccs.sort_unstable();
    ccs.dedup();
    let colour = |g: &Group| g.cc.as_deref().map_or(0, |cc| chart::colour(cc, &ccs));
    Chart {
        id: id.to_owned(),
        x: Axis {
            label: words.label(label::axis_round_trip()),
            log: most > 12.0 * least,
            from: None,
            to: None,
        },
        y: Axis {
            label: words.label(label::axis_share()),
            log: false,
            from: Some(0.0),
            to: Some(100.0),
        },
        series: groups
            .iter()
            .map(|g| Line {
                name: g.name.clone(),
                colour: colour(g),
                dash: usize::from(g.layer == Layer::Tunnel),
                points: None,
                xy: g.curve(),
                bars: Vec::new(),
            })
            .collect(),
    }
}

/// Caption of the chart.
fn caption(groups: &[Group], words: &Words) -> String {
    let parts: Vec<String> = groups
        .iter()
        .filter_map(|g| {
            let [p50, p95, _] = g.percentiles_us;
            let (name, p50) = (g.name.as_str(), Value::Us(p50?));
            Some(words.label(match p95 {
                Some(p95) => label::delay_summary(name, p50, Value::Us(p95)),
                None => label::delay_summary_median(name, p50),
            }))
        })
        .collect();
    format!(
        "{}{}",
        words.label(label::delay_summary_lead()),
        parts.join("; ")
    )
}

fn ms(us: f64) -> String {
    short(us / 1e3)
}

fn table(groups: &[Group], words: &Words) -> Markup {
    let cell = |us: Option<f64>| us.map(ms).unwrap_or_default();
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::values())) {
            table.figures {
                thead { tr {
                    th scope="col" { (words.label(label::axis_round_trip())) }
                    @for name in ["min", "p50", "p95", "p99", "max"] { th.number scope="col" { (name) } }
                    th.number scope="col" { (words.label(label::probes())) }
                } }
                tbody { @for g in groups { tr {
                    th scope="row" { (g.name) }
                    td.number { (cell(g.all.min_us())) }
                    @for us in g.percentiles_us { td.number { (cell(us)) } }
                    td.number { (cell(g.all.max_us())) }
                    td.number { (g.all.len()) }
                } } }
            }
        }
    }
}
