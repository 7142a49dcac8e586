//! Bar charts of a matrix as a single page without scripts or network access, light and dark.

use analysis::repeats::{Summary, summaries};
use std::fmt::Write;

use model::{
    figures::Figures,
    row::{Row, RowFigure},
    text::capital,
};

use crate::{
    number::{factor, short},
    terminal::{self, factor_keys},
};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 60.0;
const BOTTOM: f64 = 44.0;
const TOP: f64 = 26.0;

/// The charted figures.
const CHARTS: [RowFigure; 3] = [RowFigure::Goodput, RowFigure::ProbeP50, RowFigure::QueueP99];

/// The page for some rows of one spec.
pub fn page(title: &str, rows: &[Row], figures: Option<&Figures>) -> String {
    let measured: Vec<Row> = rows.iter().filter(|r| r.cross.is_none()).cloned().collect();
    let groups = summaries(&measured);
    let axes = Axes::new(&measured);
    let charts: String = CHARTS
        .iter()
        .filter_map(|&figure| draw(figure, &groups, &axes, figures))
        .collect();
    let source = figures.map_or_else(String::new, |f| {
        format!(
            "<p>Hollow diamonds: published figures. Source: {}.</p>",
            escape(&f.source)
        )
    });
    let seeds = rows
        .iter()
        .map(|r| r.seed.0)
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    let kernel = rows.first().map_or("", |r| r.kernel.as_str());
    let (title, kernel) = (escape(title), escape(kernel));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"> <meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"> <title>{title} - pathtwin \
         lab</title><style>{STYLE}</style></head><body><main> <h1>{title}</h1><p>Linux {kernel} on \
         a lab path; {seeds} seed(s) per setting. Bars: median; whiskers: 95 % interval of the \
         median, or the range of fewer than five seeds.</p>{source}{charts} <h2>All values</h2><div \
         class=\"wide\"><pre>{}</pre></div> <p>The lab models the path, not the processors, \
         network cards or radio of real hosts.</p> </main></body></html>\n",
        escape(&terminal::table(rows, figures, None)),
    )
}

const STYLE: &str = "\
:root{--ink:#1b1b1b;--paper:#fff;--line:#c8c8c8;--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#cc79a7;\
--s4:#7a6a00;--s5:#56b4e9}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#16181c;--line:#4a4d52;--s0:#56b4e9;\
--s1:#e69f00;--s2:#2fc79a;--s3:#e3a5c7;--s4:#f0e442;--s5:#9ad0f5}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}\
main{max-width:60rem;margin:auto;padding:1rem}svg{width:100%;height:auto;font:12px system-ui,sans-serif}\
svg text{fill:var(--ink)}.grid{stroke:var(--line)}.whisker{stroke:var(--ink);stroke-width:1.5}\
.published{fill:none;stroke:var(--ink);stroke-width:1.5}.wide{overflow-x:auto}pre{font-size:.8rem}\
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0;font-size:.9rem}\
.legend b{display:inline-block;width:1.6em;text-align:center;margin-right:.4em;color:var(--paper)}\
.s0{fill:var(--s0);background:var(--s0)}.s1{fill:var(--s1);background:var(--s1)}\
.s2{fill:var(--s2);background:var(--s2)}.s3{fill:var(--s3);background:var(--s3)}\
.s4{fill:var(--s4);background:var(--s4)}.s5{fill:var(--s5);background:var(--s5)}";

/// The factor on the x axis, and the series of the other settings.
struct Axes {
    along: Option<String>,
    places: Vec<String>,
    series: Vec<String>,
}

impl Axes {
    /// The factor with the most values is on the x axis; combinations of the others are the series.
    fn new(rows: &[Row]) -> Self {
        let levels = |key: &str| {
            let mut seen: Vec<String> = Vec::new();
            for value in rows.iter().filter_map(|r| r.factors.get(key)).map(factor) {
                if !seen.contains(&value) {
                    seen.push(value);
                }
            }
            seen
        };
        let along = factor_keys(rows)
            .into_iter()
            .max_by_key(|k| levels(k).len());
        let places = along.as_deref().map_or_else(|| vec![String::new()], levels);
        let mut axes = Self {
            along,
            places,
            series: Vec::new(),
        };
        for row in rows {
            let series = axes.series_of(row);
            if !axes.series.contains(&series) {
                axes.series.push(series);
            }
        }
        axes
    }

    fn place_of(&self, row: &Row) -> String {
        self.along
            .as_ref()
            .and_then(|k| row.factors.get(k))
            .map(factor)
            .unwrap_or_default()
    }

    fn series_of(&self, row: &Row) -> String {
        let mut parts: Vec<String> = row
            .factors
            .iter()
            .filter(|(k, _)| Some(*k) != self.along.as_ref())
            .map(|(k, v)| format!("{} {}", k.rsplit('.').next().unwrap_or(k), factor(v)))
            .collect();
        parts.push(row.direction.to_string());
        parts.join(", ")
    }
}

fn draw(
    figure: RowFigure,
    groups: &[Summary<'_>],
    axes: &Axes,
    figures: Option<&Figures>,
) -> Option<String> {
    let published = |g: &Summary<'_>| figures.and_then(|f| f.value(g.first(), figure));
    let most = groups
        .iter()
        .flat_map(|g| {
            let spread = g.spread(|row| figure.of(row));
            let high = spread.map(|s| s.interval.or(s.range).map_or(s.median, |i| i.high));
            [high, published(g)]
        })
        .flatten()
        .fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let step = tick(most);
    let scale = Scale {
        top: (most / step).ceil() * step,
    };
    let title = escape(&capital(figure.text()));
    let mut svg = format!(
        "<h2>{}</h2><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        title, title
    );
    grid(&mut svg, &scale, step, figure.unit().symbol());
    let slot = (WIDTH - LEFT) / axes.places.len() as f64;
    let width = slot * 0.8 / axes.series.len().max(1) as f64;
    for (place, name) in axes.places.iter().enumerate() {
        let x = LEFT + slot * (place as f64 + 0.5);
        let y = HEIGHT - BOTTOM + 18.0;
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
            escape(name)
        );
    }
    for group in groups {
        let (place, series) = (axes.place_of(group.first()), axes.series_of(group.first()));
        let Some(place) = axes.places.iter().position(|p| *p == place) else {
            continue;
        };
        let Some(series) = axes.series.iter().position(|s| *s == series) else {
            continue;
        };
        let x = LEFT + slot * (place as f64 + 0.1) + width * series as f64;
        bar(
            &mut svg,
            figure,
            group,
            &scale,
            Bar { x, width, series },
            published(group),
        );
    }
    if let Some(along) = &axes.along {
        let (x, y) = ((LEFT + WIDTH) / 2.0, HEIGHT - 6.0);
        let _ = write!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
            escape(along)
        );
    }
    svg.push_str("</svg><ul class=\"legend\">");
    for (i, series) in axes.series.iter().enumerate() {
        let _ = write!(
            svg,
            "<li><b class=\"s{}\">{}</b>{}</li>",
            i % 6,
            i + 1,
            escape(series)
        );
    }
    svg.push_str("</ul>");
    Some(svg)
}

struct Bar {
    x: f64,
    width: f64,
    series: usize,
}

struct Scale {
    top: f64,
}

impl Scale {
    fn y(&self, value: f64) -> f64 {
        TOP + (HEIGHT - BOTTOM - TOP) * (1.0 - value / self.top)
    }
}

fn bar(
    svg: &mut String,
    figure: RowFigure,
    group: &Summary<'_>,
    scale: &Scale,
    at: Bar,
    published: Option<f64>,
) {
    let middle = at.x + at.width / 2.0;
    if let Some(spread) = group.spread(|row| figure.of(row)) {
        let y = scale.y(spread.median);
        let height = (scale.y(0.0) - y).max(0.5);
        let (x, width, class) = (at.x + 1.0, (at.width - 2.0).max(1.0), at.series % 6);
        let label = format!(
            "{} {}, n = {}",
            short(spread.median),
            figure.unit().symbol(),
            spread.n
        );
        let _ = write!(
            svg,
            "<rect class=\"s{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"><title>{label}</title></rect>"
        );
        if let Some(interval) = spread.interval.or(spread.range) {
            let (low, high) = (scale.y(interval.low), scale.y(interval.high));
            let _ = write!(
                svg,
                "<line class=\"whisker\" x1=\"{middle:.1}\" x2=\"{middle:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>"
            );
        }
        // The number of the series and the value, so that the chart is readable without colour.
        let above = published.map_or(y, |value| y.min(scale.y(value) - 6.0)) - 4.0;
        let _ = write!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{above:.1}\" text-anchor=\"middle\" font-size=\"10\">{}: {}</text>",
            at.series + 1,
            short(spread.median)
        );
    }
    if let Some(value) = published {
        let y = scale.y(value);
        let _ = write!(
            svg,
            "<path class=\"published\" d=\"M{middle:.1} {:.1}l6 6l-6 6l-6 -6z\"><title>published: \
             {} {}</title></path>",
            y - 6.0,
            short(value),
            figure.unit().symbol()
        );
    }
}

fn grid(svg: &mut String, scale: &Scale, step: f64, unit: &str) {
    let lines = (scale.top / step).round() as u32;
    for i in 0..=lines {
        let value = f64::from(i) * step;
        let y = scale.y(value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            axis_number(value)
        );
    }
    let _ = write!(svg, "<text x=\"4\" y=\"14\">{unit}</text>");
}

fn axis_number(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}

/// A round distance between grid lines, for about five up to `most`.
fn tick(most: f64) -> f64 {
    let rough = most / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|s| s * power >= rough)
        .unwrap_or(10.0);
    step * power
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_lines_are_round_numbers() {
        assert_eq!([947.0, 51.4, 7.0, 0.3].map(tick), [200.0, 20.0, 2.0, 0.1]);
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escape("<a href=\"x\">&"),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
    }
}
