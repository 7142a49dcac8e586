//! Results of the lab: what matters most in words, heat maps, throughput against loss, all values.

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

/// A smaller effect of a factor is not worth a sentence.
const SMALL: f64 = 1.1;

/// The largest effect of one factor with all others the same.
struct Effect<'a> {
    key: &'a str,
    worse: &'a Summary<'a>,
    better: &'a Summary<'a>,
    ratio: f64,
}

/// The head of a page without a run.
pub(super) fn head(rows: &Rows, words: &Words) -> Markup {
    let measured = measured(rows);
    let groups = summaries(&measured);
    html! {
        p.meta { span { (words.say("matrix-of")) " " code { (rows.name) } }
            span { (words.fill("matrix-cells", &[("n", groups.len().into())])) } }
        div.verdict.plain {
            h1 { (rows.name) }
            @for text in says(&groups, words) { p.says { (text) } }
        }
    }
}

/// The section; `lead`: nothing above says what is in it.
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
            @for text in says(&groups, words) { p { (text) } }
        }
        p.note { (words.say("matrix-note")) }
        (heat::html(&measured, words))
        @if let Some(chart) = loss::of_rows(rows, words, charts, &format!("loss-matrix-{number}")) { (chart) }
        @if invalid > 0 { p.warning { (words.fill("matrix-invalid", &[("n", invalid.into())])) } }
        details.more {
            summary { (words.say("matrix-all")) }
            div.wide tabindex="0" role="group" aria-label=(words.say("matrix-all")) {
                pre { (terminal::table(&rows.rows, None)) }
            }
        }
    }
}

/// The measured traffic, without what competes with it.
fn measured(rows: &Rows) -> Vec<Row> {
    let own = rows.rows.iter().filter(|r| r.cross.is_none());
    own.cloned().collect()
}

/// What is best and worst, and which factor matters most.
fn says(groups: &[Summary<'_>], words: &Words) -> Vec<String> {
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
    texts.extend(effects.iter().map(|effect| effect.says(words)));
    texts
}

/// What differing in one factor makes, the largest first.
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
    fn says(&self, words: &Words) -> String {
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

/// The factor in which two settings differ, if it is one only.
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

/// The factors of a row in words, without one of them.
fn setting(row: &Row, without: Option<&str>) -> String {
    let parts: Vec<String> = row
        .factors
        .iter()
        .filter(|(key, _)| Some(key.as_str()) != without)
        .map(|(key, value)| format!("{} {}", last(key), factor(value)))
        .collect();
    parts.join(", ")
}
