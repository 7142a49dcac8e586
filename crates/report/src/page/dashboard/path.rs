//! Page of a path over time: its series with lasting changes, and the facts that changed at the
//! same time.

use maud::{Markup, html};
use model::history::Trend;

use super::{
    Frame, PathHistory, Series, card, chart,
    frame::{figure_name, page, series_name, step_name, to_run, to_series},
};
use crate::{page::words::Words, plain::named_figure, time};

/// Facts that are shown of a change; the others are counted.
const FACTS: usize = 8;

/// The page of a path.
pub fn path(history: &PathHistory, frame: &Frame) -> String {
    let words = Words::new(frame.lang);
    let changes: Vec<&Trend> = history.charts.iter().flat_map(|s| &s.changes).collect();
    let body = html! {
        h1 { (history.card.path) }
        div id="state" data-live {
            (card::head(&history.card, frame, &words))
            (card::live(&history.card.live, &words))
        }
        section aria-labelledby="series" {
            h2 id="series" { (words.label("dash-over-time")) }
            p.note { (words.label("dash-chart-note")) }
            @for series in &history.charts { (one(series, history, frame, &words)) }
            (others(history, frame, &words))
        }
        section aria-labelledby="changes" {
            h2 id="changes" { (words.label("dash-changes")) }
            @if changes.is_empty() { p { (words.label("dash-no-change")) } }
            @for change in changes { (changed(change, frame, &words)) }
            @if !history.tuned.is_empty() {
                h3 { (words.label("dash-tuned")) }
                ul { @for (at_us, id) in &history.tuned { li { (time::utc(*at_us)) " UTC " code { (id) } } } }
            }
        }
        section aria-labelledby="runs" {
            h2 id="runs" { (words.label("dash-runs")) }
            div.wide tabindex="0" role="group" aria-label=(words.label("dash-runs")) { table {
                thead { tr {
                    th scope="col" { (words.label("head-run")) }
                    th scope="col" { (words.label("dash-started")) }
                    th scope="col" { (words.label("dash-labels")) }
                } }
                tbody { @for (run, at_us, labels) in &history.runs { tr {
                    th scope="row" { a href=(to_run(frame, run)) { (run) } }
                    td { (time::utc(*at_us)) }
                    td { (labels) }
                } } }
            } }
        }
    };
    page(
        frame,
        &format!("{} · pathtwin", history.card.path),
        "",
        &body,
    )
}

fn one(series: &Series, history: &PathHistory, frame: &Frame, words: &Words) -> Markup {
    let show = |value: f64| named_figure(&series.name.figure, value);
    html! {
        figure.series {
            h3 { (figure_name(&series.name.figure, words)) " "
                span.place { (step_name(&series.name.step, words)) } }
            (chart::lines(series, &history.tuned, words))
            details.values {
                summary { (words.label("values")) }
                div.wide tabindex="0" role="group" aria-label=(series_name(&series.name, words)) { table {
                    thead { tr {
                        th scope="col" { (words.label("dash-started")) }
                        th.number scope="col" { (words.label("dash-median")) }
                        th.number scope="col" { (words.label("dash-interval")) }
                        th scope="col" { (words.label("head-run")) }
                    } }
                    tbody { @for point in series.points.iter().rev() { tr {
                        td { (time::utc(point.created_us)) }
                        td.number { data value=(point.median) { (show(point.median)) } }
                        td.number { @if let Some((low, high)) = point.low.zip(point.high) { (show(low)) " – " (show(high)) } }
                        td { a href=(to_run(frame, &point.run)) { (point.run) } }
                    } } }
                } }
            }
        }
    }
}

fn others(history: &PathHistory, frame: &Frame, words: &Words) -> Markup {
    html! {
        @if !history.others.is_empty() {
            details.more {
                summary { (words.fill("dash-others", &[("n", history.others.len().into())])) }
                ul { @for series in &history.others {
                    li { a href=(to_series(frame, series)) { (series_name(series, words)) } }
                } }
            }
        }
    }
}

fn changed(change: &Trend, frame: &Frame, words: &Words) -> Markup {
    let show = |value: f64| named_figure(&change.series.figure, value);
    let by = change
        .change
        .map_or_else(String::new, |share| format!("{:+.1} %", 100.0 * share));
    let values = [
        ("before", show(change.before).into()),
        ("after", show(change.after).into()),
        ("by", by.into()),
    ];
    let unknown = words.label("unknown");
    html! {
        div.cause {
            h3 { (series_name(&change.series, words)) }
            p { (words.fill("dash-change", &values)) " · " (time::utc(change.at_us)) " UTC · "
                a href=(to_run(frame, &change.run)) { (change.run) } }
            @if !change.facts.is_empty() {
                p.soft { (words.label("dash-then")) }
                ul { @for fact in change.facts.iter().take(FACTS) {
                    li { code { (fact.fact) } ": " (fact.before.as_deref().unwrap_or(&unknown)) " → "
                        (fact.after.as_deref().unwrap_or(&unknown)) }
                } }
                @let more = change.facts.len().saturating_sub(FACTS);
                @if more > 0 { p.soft { (words.fill("dash-more-facts", &[("n", more.into())])) } }
            }
        }
    }
}
