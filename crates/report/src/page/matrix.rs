//! Lab results: main effects, heat maps, throughput and loss, all values.

use analysis::{
    effects::{self, Effect},
    repeats::{Summary, reasons, summaries},
};
use maud::{Markup, html};
use model::{
    row::{Row, RowFigure, Rows},
    run::Unit,
    text::Value,
};

use super::{
    charts::Charts,
    heat::{self, last},
    loss,
    words::{Words, label},
};
use crate::{number::factor, printed::printed};

/// Minimum effect of a factor that is described.
const SMALL: f64 = 1.1;

/// Header of a page without a run.
pub(super) fn head(rows: &Rows, words: &Words) -> Markup {
    let measured = measured(rows);
    let groups = summaries(&measured);
    html! {
        p.meta { span { (words.label(label::matrix_of())) " " code { (rows.name) } }
            span { (words.label(label::matrix_cells(groups.len()))) } }
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
    let invalid = invalid(&measured, words);
    html! {
        @if lead {
            h3 { (rows.name) }
            @for text in caption(&groups, words) { p { (text) } }
        }
        p.note { (words.label(label::matrix_note())) }
        (heat::html(&measured, words))
        @if let Some(chart) = loss::of_rows(rows, words, charts, &format!("loss-matrix-{number}")) { (chart) }
        @if let Some(invalid) = invalid { (invalid) }
        details.more {
            summary { (words.label(label::matrix_all())) }
            div.wide tabindex="0" role="group" aria-label=(words.label(label::matrix_all())) {
                (all(&groups, words))
            }
        }
    }
}

/// Every figure of every setting.
fn all(groups: &[Summary<'_>], words: &Words) -> Markup {
    let median = |g: &Summary<'_>, figure: RowFigure| Some(g.spread(|row| figure.of(row))?.median);
    let mut figures = RowFigure::ALL.to_vec();
    figures.retain(|f| groups.iter().any(|g| median(g, *f).is_some()));
    html! {
        table.figures {
            thead { tr {
                th scope="col" { (words.label(label::matrix_setting())) }
                @for figure in &figures {
                    th.number scope="col" { (words.render(&figure.words()).capital())
                        @if let Some(unit) = printed(figure.unit()).symbol { span.unit { (words.value(&unit)) } } }
                }
            } }
            tbody { @for group in groups { tr {
                th scope="row" { (setting(group.first(), None)) " " (words.direction(group.first().direction)) }
                @for figure in &figures {
                    td.number { @if let Some(value) = median(group, *figure) { ((printed(figure.unit()).print)(value)) } }
                }
            } } }
        }
    }
}

/// The number of rows that do not count, and why not.
fn invalid(rows: &[Row], words: &Words) -> Option<Markup> {
    let count = rows.iter().filter(|r| !r.valid).count();
    (count > 0).then(|| {
        html! {
            p.warning { (words.label(label::matrix_invalid(count))) }
            ul { @for (why, count) in reasons(rows) {
                @let why = words.render(why);
                li { span lang=[why.lang] { (why.text) } " (" (words.label(label::repeats(count))) ")" }
            } }
        }
    })
}

/// Rows of the measured traffic, without cross traffic.
fn measured(rows: &Rows) -> Vec<Row> {
    let own = rows.rows.iter().filter(|r| r.cross.is_none());
    own.cloned().collect()
}

/// Best and worst setting, and the effects of factors.
fn caption(groups: &[Summary<'_>], words: &Words) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some([worst, best]) = effects::extremes(groups) {
        let goodput = |mbps: f64| Unit::MegabitsPerSecond.value(mbps);
        texts.push(words.label(label::matrix_range(
            goodput(best.1),
            setting(best.0.first(), None),
            goodput(worst.1),
            setting(worst.0.first(), None),
        )));
    }
    let effects = effects::largest(groups, SMALL);
    texts.extend(effects.iter().map(|effect| described(effect, words)));
    texts
}

fn described(effect: &Effect<'_>, words: &Words) -> String {
    let level = |g: &Summary<'_>| {
        g.first()
            .factors
            .get(effect.key)
            .map(factor)
            .unwrap_or_default()
    };
    let others = setting(effect.better.first(), Some(effect.key));
    let (better, worse) = (level(effect.better), level(effect.worse));
    let (factor, ratio) = (last(effect.key), Value::Ratio(effect.ratio));
    words.label(match others.is_empty() {
        true => label::matrix_effect_alone(factor, better, ratio, worse),
        false => label::matrix_effect(factor, others, better, ratio, worse),
    })
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
