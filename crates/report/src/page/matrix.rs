//! Lab results: main effects, heat maps, throughput and loss, all values.

use analysis::repeats::{Summary, summaries};
use maud::{Markup, html};
use model::row::{Row, Rows};

use super::{
    charts::Charts,
    heat::{self, last},
    loss,
    words::Words,
};
use crate::{
    number::{factor, short},
    terminal,
};

/// Minimum effect of a factor that is described.
const SMALL: f64 = 1.1;

/// The largest effect of one factor with all others unchanged.
struct Effect<'a> {
    key: &'a str,
    worse: &'a Summary<'a>,
    better: &'a Summary<'a>,
    ratio: f64,
}

/// Header of a page without a run.
pub(super) fn head(rows: &Rows, words: &Words) -> Markup {
    let measured = measured(rows);
    let groups = summaries(&measured);
    html! {
        p.meta { span { (words.label("matrix-of")) " " code { (rows.name) } }
            span { (words.fill("matrix-cells", &[("n", groups.len().into())])) } }
        div.verdict.plain {
            h1 { (rows.name) }
            @for text in caption(&groups, words) { p.description { (text) } }
        }
    }
}

/// The section; `lead`: it is the first of the page.
pub(super) fn html(
    rows: &Rows,
    words: &Words,
    charts: &mut Charts,
    number: usize,
    lead: bool,
) -> Markup {
    let measured = measured(rows);
    let groups = summaries(&measured);
    let invalid = measured.iter().filter(|r| !r.valid).count();
    html! {
        @if lead {
            h3 { (rows.name) }
            @for text in caption(&groups, words) { p { (text) } }
        }
        p.note { (words.label("matrix-note")) }
        (heat::html(&measured, words))
        @if let Some(chart) = loss::of_rows(rows, words, charts, &format!("loss-matrix-{number}")) { (chart) }
        @if invalid > 0 { p.warning { (words.fill("matrix-invalid", &[("n", invalid.into())])) } }
        details.more {
            summary { (words.label("matrix-all")) }
            div.wide tabindex="0" role="group" aria-label=(words.label("matrix-all")) {
                pre tabindex="0" { (terminal::table(&rows.rows, None, None)) }
            }
        }
    }
}

/// Rows of the measured traffic, without cross traffic.
fn measured(rows: &Rows) -> Vec<Row> {
    let own = rows.rows.iter().filter(|r| r.cross.is_none());
    own.cloned().collect()
}

/// Best and worst setting, and the effects of factors.
fn caption(groups: &[Summary<'_>], words: &Words) -> Vec<String> {
    let mut ranked: Vec<(&Summary<'_>, f64)> = groups
        .iter()
        .filter_map(|g| Some((g, g.spread(|r| r.goodput_mbps)?.median)))
        .collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut texts = Vec::new();
    if let (Some(worst), Some(best)) = (ranked.first(), ranked.last())
        && ranked.len() > 1
    {
        texts.push(words.fill(
            "matrix-range",
            &[
                ("best", setting(best.0.first(), None).into()),
                ("high", short(best.1).into()),
                ("worst", setting(worst.0.first(), None).into()),
                ("low", short(worst.1).into()),
            ],
        ));
    }
    let mut effects: Vec<Effect<'_>> = Vec::new();
    for effect in all_effects(groups) {
        if !effects.iter().any(|e| e.key == effect.key) {
            effects.push(effect);
        }
    }
    texts.extend(effects.iter().map(|effect| effect.caption(words)));
    texts
}

/// Effects of single factors, largest first.
fn all_effects<'a>(groups: &'a [Summary<'a>]) -> Vec<Effect<'a>> {
    let of = |g: &Summary<'_>| g.spread(|r| r.goodput_mbps).map(|s| s.median);
    let goodputs: Vec<Option<f64>> = groups.iter().map(of).collect();
    let mut effects = Vec::new();
    for (better, high) in groups.iter().zip(&goodputs) {
        for (worse, low) in groups.iter().zip(&goodputs) {
            let key = only_difference(better.first(), worse.first());
            let (Some(key), Some(high), Some(low)) = (key, high, low) else {
                continue;
            };
            if *low > 0.0 && high / low > SMALL {
                effects.push(Effect {
                    key,
                    worse,
                    better,
                    ratio: high / low,
                });
            }
        }
    }
    effects.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    effects
}

impl Effect<'_> {
    fn caption(&self, words: &Words) -> String {
        let level = |g: &Summary<'_>| {
            g.first()
                .factors
                .get(self.key)
                .map(factor)
                .unwrap_or_default()
        };
        let others = setting(self.better.first(), Some(self.key));
        let id = match others.is_empty() {
            true => "matrix-effect-alone",
            false => "matrix-effect",
        };
        words.fill(
            id,
            &[
                ("factor", last(self.key).into()),
                ("better", level(self.better).into()),
                ("worse", level(self.worse).into()),
                ("ratio", short(self.ratio).into()),
                ("where", others.into()),
            ],
        )
    }
}

/// The factor in which two settings differ, if it is the only one.
fn only_difference<'a>(a: &'a Row, b: &Row) -> Option<&'a str> {
    if a.direction != b.direction || a.layer != b.layer || a.name != b.name {
        return None;
    }
    let mut differ = a
        .factors
        .iter()
        .filter(|(k, v)| b.factors.get(*k) != Some(v));
    let first = differ.next()?;
    differ.next().is_none().then_some(first.0.as_str())
}

/// The factors of a row as text, without one of them.
fn setting(row: &Row, without: Option<&str>) -> String {
    let parts: Vec<String> = row
        .factors
        .iter()
        .filter(|(key, _)| Some(key.as_str()) != without)
        .map(|(key, value)| format!("{} {}", last(key), factor(value)))
        .collect();
    parts.join(", ")
}
