//! Charts of throughput over loss: measurements and model curves.

use analysis::{
    curve::Curve,
    loss::{self, LossPoint, MIN_LOSS},
    repeats::{Summary, summaries},
    view::{DirectionView, View},
};
use maud::{Markup, html};
use model::{
    net::{Direction, Layer},
    row::{Row, Rows},
    run::Run,
    text::Value,
};

use super::{
    chart::{self, Axis, Chart, Line, Shape, figure, round},
    charts::Charts,
    words::{Words, label},
};
use crate::number::short;

/// Range of loss of the curves.
const FROM: f64 = MIN_LOSS;
const TO: f64 = 0.3;

/// A measured setting and its appearance.
struct Point {
    name: String,
    second: bool,
    at: LossPoint,
}

/// The curve as chart coordinates: loss in percent, Mbit/s.
fn line(curve: &Curve) -> Vec<[f64; 2]> {
    const STEPS: i32 = 80;
    (0..=STEPS)
        .filter_map(|i| {
            let loss = FROM * (TO / FROM).powf(f64::from(i) / f64::from(STEPS));
            Some([round(loss * 100.0), round(curve.at(loss)? / 1e6)])
        })
        .collect()
}

/// Charts of a run, one per direction.
pub(super) fn of_run(run: &Run, words: &Words, charts: &mut Charts) -> Option<Markup> {
    let view = View::new(run)?;
    let mut drawn = Vec::new();
    for dir in view.directions() {
        let Some((points, curves)) = of_direction(&dir, words) else {
            continue;
        };
        let id = match dir.direction {
            Direction::Down => "loss-down",
            Direction::Up => "loss-up",
        };
        charts.drawn.push(drawing(id, &points, &curves, words));
        let title = words.label(label::loss_direction(dir.direction));
        drawn.push(html! {
            h3 { (title) }
            (figure(id, &caption(&points, words), &words.label(label::values()), &table(&points, words)))
        });
    }
    (!drawn.is_empty()).then(|| {
        html! {
            p.note { (words.label(label::loss_note())) }
            div.pair { @for one in &drawn { div { (one) } } }
        }
    })
}

/// The loads of a direction with the fewest flows, on the analysed layer and its underlay, and the
/// curves of the analysed layer.
fn of_direction(dir: &DirectionView<'_>, words: &Words) -> Option<(Vec<Point>, Vec<Curve>)> {
    let curves = loss::curves(dir);
    let mut points: Vec<Point> = Vec::new();
    for dir in [dir.underlay(), Some(*dir)].into_iter().flatten() {
        let layer = dir.view.layer;
        points.extend(dir.single_loads().iter().filter_map(|load| {
            Some(Point {
                name: format!("{} · {}", words.layer(layer), load.cc),
                second: layer == Layer::Tunnel,
                at: LossPoint::of_load(load, &curves)?,
            })
        }));
    }
    (!points.is_empty()).then_some((points, curves))
}

/// Chart of a matrix, if loss is a factor.
pub(super) fn of_rows(rows: &Rows, words: &Words, charts: &mut Charts, id: &str) -> Option<Markup> {
    let measured: Vec<Row> = rows
        .rows
        .iter()
        .filter(|r| r.cross.is_none())
        .cloned()
        .collect();
    let groups = summaries(&measured);
    let (settings, curves) = loss::of_settings(&groups);
    if !loss::are_several(settings.iter().map(|(_, at)| at)) {
        return None;
    }
    let point = |(group, at): (&Summary<'_>, LossPoint)| Point {
        name: series_name(group.first()),
        second: false,
        at,
    };
    let points: Vec<Point> = settings.into_iter().map(point).collect();
    charts.drawn.push(drawing(id, &points, &curves, words));
    Some(html! {
        h3 { (words.label(label::loss_title())) }
        p.note { (words.label(label::loss_note_rows())) }
        (figure(id, &caption(&points, words), &words.label(label::values()), &table(&points, words)))
    })
}

/// The factors other than loss.
fn series_name(row: &Row) -> String {
    let parts: Vec<String> = row
        .factors
        .iter()
        .filter(|(name, _)| !loss::is_factor(name))
        .map(|(_, value)| crate::number::factor(value))
        .collect();
    if parts.is_empty() {
        return row.cc_used.clone().unwrap_or_else(|| row.name.clone());
    }
    parts.join(", ")
}

fn drawing(id: &str, points: &[Point], curves: &[Curve], words: &Words) -> Chart {
    let mut ccs: Vec<&str> = points.iter().filter_map(|p| p.at.cc.as_deref()).collect();
    ccs.sort_unstable();
    ccs.dedup();
    let colour = |cc: Option<&str>| cc.map_or(0, |cc| chart::colour(cc, &ccs));
    let curves = curves.iter().map(|c| Line {
        name: words.label(label::loss_model(&c.cc)),
        colour: colour(Some(&c.cc)),
        dash: 1 + colour(Some(&c.cc)) % 2,
        points: None,
        xy: line(c),
        bars: Vec::new(),
    });
    let mut series: Vec<Line> = curves.collect();
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.name.as_str()) {
            names.push(&point.name);
        }
    }
    for name in names {
        let of: Vec<&Point> = points.iter().filter(|p| p.name == name).collect();
        let shapes = [Shape::Disc, Shape::Square, Shape::Diamond, Shape::Triangle];
        let first = of[0];
        let cc = colour(first.at.cc.as_deref());
        let shape = shapes[(usize::from(first.second) + 2 * (cc.max(1) - 1)) % shapes.len()];
        series.push(Line {
            name: name.to_owned(),
            colour: cc,
            dash: 0,
            points: Some(shape),
            xy: of
                .iter()
                .map(|p| [round(p.at.loss * 100.0), round(p.at.goodput_bps / 1e6)])
                .collect(),
            bars: of.iter().map(|p| bar(&p.at)).collect(),
        });
    }
    let low = points.iter().map(|p| p.at.loss).fold(1e-4, f64::min);
    let high = points.iter().map(|p| p.at.loss).fold(0.05, f64::max);
    Chart {
        id: id.to_owned(),
        x: Axis {
            label: words.label(label::axis_loss()),
            log: true,
            from: Some((low / 2.0).max(FROM) * 100.0),
            to: Some((high * 2.0).min(TO) * 100.0),
        },
        y: Axis {
            label: words.label(label::axis_goodput()),
            log: true,
            from: None,
            to: None,
        },
        series,
    }
}

/// Error bar: from zero loss if none was seen; the interval of the goodput.
fn bar(point: &LossPoint) -> [f64; 4] {
    let x = point.loss * 100.0;
    let from = if point.none { FROM * 100.0 } else { x };
    let (low, high) = point
        .interval_bps
        .unwrap_or((point.goodput_bps, point.goodput_bps));
    [from, x, low / 1e6, high / 1e6].map(round)
}

/// The loss of a point.
fn lost(point: &LossPoint) -> f64 {
    if point.none { 0.0 } else { point.loss }
}

fn caption(points: &[Point], words: &Words) -> String {
    let parts: Vec<String> = points
        .iter()
        .map(|p| {
            let (goodput, lost) = (Value::Bps(p.at.goodput_bps), Value::Share(lost(&p.at)));
            words.label(label::loss_summary(p.name.as_str(), goodput, lost))
        })
        .collect();
    format!(
        "{}{}",
        words.label(label::loss_summary_lead()),
        parts.join("; ")
    )
}

fn table(points: &[Point], words: &Words) -> Markup {
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::values())) {
            table.figures {
                thead { tr {
                    th scope="col" { (words.label(label::what())) }
                    th.number scope="col" { (words.label(label::axis_loss())) }
                    th.number scope="col" { (words.label(label::axis_goodput())) }
                    th.number scope="col" { (words.label(label::loss_model_there())) }
                    th.number scope="col" { (words.label(label::loss_model_ratio())) }
                } }
                tbody { @for p in points { tr {
                    th scope="row" { (p.name) }
                    td.number { (short(100.0 * lost(&p.at))) }
                    td.number { (short(p.at.goodput_bps / 1e6)) }
                    td.number { @if let Some(m) = p.at.model_bps { (short(m / 1e6)) } }
                    td.number { @if let Some(ratio) = p.at.over_model() { (short(ratio)) } }
                } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: a loss of 16.6 % was 0.166 in a column of per cent.
    #[test]
    fn the_table_shows_per_cent() {
        let point = Point {
            name: "bbr".to_owned(),
            second: false,
            at: LossPoint {
                cc: None,
                loss: 0.166,
                none: false,
                goodput_bps: 137e6,
                interval_bps: None,
                model_bps: None,
            },
        };
        let table = table(&[point], &Words::new(crate::page::Lang::English)).into_string();
        assert!(table.contains("<td class=\"number\">16.6</td>"), "{table}");
    }

    #[test]
    fn a_curve_is_drawn_as_far_as_the_model_goes() {
        let curve = |cc: &str| Curve {
            cc: cc.to_owned(),
            rtt_s: 0.1,
            mss: 1448.0,
            flows: 1.0,
            capacity_bps: 100e6,
        };
        assert!(line(&curve("bbr")).iter().all(|[loss, _]| *loss < 19.6));
        assert!(line(&curve("vegas")).is_empty());
    }
}
