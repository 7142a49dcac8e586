//! Delay distributions, idle and under load.

use analysis::view::View;
use maud::{Markup, html};
use model::{
    net::{Direction, Layer},
    run::{Column, Run, Sample, StepKind},
};

use super::{
    chart::{self, Axis, Chart, Line, figure, round},
    charts::Charts,
    words::Words,
};
use crate::number::short;

/// Number of quantiles drawn, with higher density at the top.
const STEPS: usize = 100;
const TOP: [f64; 6] = [0.993, 0.995, 0.997, 0.998, 0.999, 1.0];

/// Sorted RTTs of one line, ms.
struct Group {
    name: String,
    cc: Option<String>,
    layer: Layer,
    sorted: Vec<f64>,
}

impl Group {
    /// A quantile by the nearest rank.
    fn quantile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.sorted.len() as f64).ceil() as usize;
        let place = rank
            .saturating_sub(1)
            .min(self.sorted.len().checked_sub(1)?);
        Some(self.sorted[place])
    }

    /// RTT and cumulative share of the probes.
    fn curve(&self) -> Vec<[f64; 2]> {
        let even = (0..STEPS).map(|i| i as f64 / STEPS as f64);
        let mut shares: Vec<f64> = even.chain(TOP).collect();
        // Quantiles beyond the resolution of the number of probes are not drawn, except the
        // maximum.
        let finest = 1.0 - 1.0 / self.sorted.len().max(1) as f64;
        shares.retain(|s| *s <= finest || *s == 1.0);
        let point = |share: f64| Some([round(self.quantile(share)?), share * 100.0]);
        shares.into_iter().filter_map(point).collect()
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
        let title = words.fill(
            "delay-load",
            &[("direction", words.direction(direction).into())],
        );
        drawn.push(html! {
            h3 { (title) }
            (figure(id, &caption(&groups, words), &words.label("values"), &table(&groups, words)))
        });
    }
    (!drawn.is_empty()).then(|| {
        html! {
            p.note { (words.label("delay-note")) }
            div.pair { @for one in &drawn { div { (one) } } }
        }
    })
}

/// Idle probes of each layer, then each congestion control with the fewest flows.
fn groups(run: &Run, direction: Direction, words: &Words) -> Vec<Group> {
    let Some(view) = View::new(run) else {
        return Vec::new();
    };
    let views: Vec<View<'_>> = [view.underlay(), Some(view)]
        .into_iter()
        .flatten()
        .collect();
    let loads: Vec<&Sample> = run
        .samples
        .iter()
        .filter(|s| s.valid && s.key.step == StepKind::Tcp && !s.key.bidirectional)
        .filter(|s| s.key.direction == Some(direction))
        .collect();
    let fewest = loads.iter().filter_map(|s| s.key.flows).min();
    let mut ccs: Vec<String> = loads.iter().filter_map(|s| s.key.cc.clone()).collect();
    ccs.sort();
    ccs.dedup();
    // A run without named congestion controls has one line for all loads.
    let ccs: Vec<Option<String>> = match ccs.is_empty() {
        true => vec![None],
        false => ccs.into_iter().map(Some).collect(),
    };
    let mut groups = Vec::new();
    for view in views {
        let (layer, family) = (view.layer, view.family);
        let ours = |s: &&Sample| s.key.layer == layer && s.key.family == family;
        let idle = run
            .samples
            .iter()
            .filter(|s| s.valid && s.key.step == StepKind::Idle)
            .filter(ours);
        groups.push(Group {
            name: format!("{} · {}", words.layer(layer), words.label("idle")),
            cc: None,
            layer,
            sorted: sorted(idle),
        });
        for cc in &ccs {
            let same = loads
                .iter()
                .copied()
                .filter(|s| ours(s) && s.key.cc == *cc && s.key.flows == fewest);
            let name = cc.clone().unwrap_or_else(|| words.label("step-tcp"));
            groups.push(Group {
                name: format!("{} · {name}", words.layer(layer)),
                cc: Some(name),
                layer,
                sorted: sorted(same),
            });
        }
    }
    groups.retain(|g| !g.sorted.is_empty());
    groups
}

/// RTTs of the answered probes of samples, within the measured time.
fn sorted<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<f64> {
    let mut all: Vec<f64> = samples
        .flat_map(|sample| {
            let window = sample.tcp.as_ref().map(|t| t.window_us);
            let series = sample.probes.as_ref().and_then(|p| p.series.as_ref());
            let points = series.map(|s| s.points(Column::RttNs)).unwrap_or_default();
            let counts = move |at: i64| window.is_none_or(|[from, to]| (from..to).contains(&at));
            points.into_iter().filter(move |(at, _)| counts(*at))
        })
        .map(|(_, ns)| ns as f64 / 1e6)
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

fn drawing(id: &str, groups: &[Group], words: &Words) -> Chart {
    let least = groups
        .iter()
        .filter_map(|g| g.quantile(0.0))
        .fold(f64::INFINITY, f64::min);
    let most = groups
        .iter()
        .filter_map(|g| g.quantile(1.0))
        .fold(0.0, f64::max);
    let mut ccs: Vec<&str> = groups.iter().filter_map(|g| g.cc.as_deref()).collect();
    ccs.sort_unstable();
    ccs.dedup();
    let colour = |g: &Group| g.cc.as_deref().map_or(0, |cc| chart::colour(cc, &ccs));
    Chart {
        id: id.to_owned(),
        x: Axis {
            label: words.label("axis-round-trip"),
            log: most > 12.0 * least,
            from: None,
            to: None,
        },
        y: Axis {
            label: words.label("axis-share"),
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
            let [p50, p95] = [g.quantile(0.5)?, g.quantile(0.95)?].map(short);
            Some(words.fill(
                "delay-summary",
                &[
                    ("name", g.name.as_str().into()),
                    ("p50", p50.into()),
                    ("p95", p95.into()),
                ],
            ))
        })
        .collect();
    format!("{}{}", words.label("delay-summary-lead"), parts.join("; "))
}

fn table(groups: &[Group], words: &Words) -> Markup {
    let cell = |g: &Group, share: f64, least: usize| {
        let shown = (g.sorted.len() >= least)
            .then(|| g.quantile(share))
            .flatten();
        shown.map(short).unwrap_or_default()
    };
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label("values")) {
            table.figures {
                thead { tr {
                    th scope="col" { (words.label("axis-round-trip")) }
                    @for name in ["min", "p50", "p90", "p95", "p99", "max"] { th.number scope="col" { (name) } }
                    th.number scope="col" { (words.label("probes")) }
                } }
                tbody { @for g in groups { tr {
                    th scope="row" { (g.name) }
                    td.number { (cell(g, 0.0, 1)) }
                    td.number { (cell(g, 0.5, 1)) }
                    td.number { (cell(g, 0.9, 10)) }
                    td.number { (cell(g, 0.95, 20)) }
                    td.number { (cell(g, 0.99, 100)) }
                    td.number { (cell(g, 1.0, 1)) }
                    td.number { (g.sorted.len()) }
                } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(sorted: Vec<f64>) -> Group {
        Group {
            name: String::new(),
            cc: None,
            layer: Layer::Underlay,
            sorted,
        }
    }

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let hundred = group((1..=100).map(f64::from).collect());
        assert_eq!(hundred.quantile(0.5), Some(50.0));
        assert_eq!(hundred.quantile(0.95), Some(95.0));
        assert_eq!(hundred.quantile(0.0), Some(1.0));
        assert_eq!(hundred.quantile(1.0), Some(100.0));
        assert_eq!(group(Vec::new()).quantile(0.5), None);
    }

    #[test]
    fn a_curve_rises_and_ends_at_the_slowest() {
        let few = group(vec![10.0, 11.0, 30.0]);
        let curve = few.curve();
        assert!(
            curve
                .windows(2)
                .all(|w| w[0][0] <= w[1][0] && w[0][1] < w[1][1])
        );
        assert_eq!(curve.last(), Some(&[30.0, 100.0]));
    }
}
