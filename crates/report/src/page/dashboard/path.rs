//! Page of a path over time: its series with lasting changes, and the facts that changed at the
//! same time.

use maud::{Markup, html};
use model::{
    history::Trend,
    text::{Text, Value},
    watch,
};

use super::{
    Frame, PathHistory, Series, card, chart,
    frame::{figure_name, page, series_name, step_name, to_run, to_series},
};
use crate::{
    page::words::{
        Words,
        label::{self, dashboard},
    },
    plain::named_figure,
    time,
};

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
            h2 id="series" { (words.label(dashboard::over_time())) }
            p.note { (words.label(dashboard::chart_note())) }
            @for series in &history.charts { (one(series, history, frame, &words)) }
            (others(history, frame, &words))
        }
        section aria-labelledby="changes" {
            h2 id="changes" { (words.label(dashboard::changes())) }
            @if changes.is_empty() { p { (words.label(dashboard::no_change())) } }
            @for change in changes { (changed(change, frame, &words)) }
            @if !history.tuned.is_empty() {
                h3 { (words.label(dashboard::tuned())) }
                ul { @for (at_us, id) in &history.tuned { li { (time::utc(*at_us)) " UTC " code { (id) } } } }
            }
        }
        section aria-labelledby="runs" {
            h2 id="runs" { (words.label(dashboard::runs())) }
            div.wide tabindex="0" role="group" aria-label=(words.label(dashboard::runs())) { table {
                thead { tr {
                    th scope="col" { (words.label(label::head_run())) }
                    th scope="col" { (words.label(dashboard::started())) }
                    th scope="col" { (words.label(dashboard::labels())) }
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
                summary { (words.label(label::values())) }
                div.wide tabindex="0" role="group" aria-label=(series_name(&series.name, words)) { table {
                    thead { tr {
                        th scope="col" { (words.label(dashboard::started())) }
                        th.number scope="col" { (words.label(dashboard::median())) }
                        th.number scope="col" { (words.label(dashboard::interval())) }
                        th scope="col" { (words.label(label::head_run())) }
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
                summary { (words.label(dashboard::others(history.others.len()))) }
                ul { @for series in &history.others {
                    li { a href=(to_series(frame, series)) { (series_name(series, words)) } }
                } }
            }
        }
    }
}

/// A change of a series.
fn shift(change: &Trend) -> Text {
    let show = |value| match change.series.figure.known() {
        Some(kind) => kind.unit().value(value),
        None => Value::Count(value),
    };
    watch::shift(show(change.before), show(change.after), change.change)
}

fn changed(change: &Trend, frame: &Frame, words: &Words) -> Markup {
    let unknown = words.label(label::unknown());
    html! {
        div.cause {
            h3 { (series_name(&change.series, words)) }
            p { (words.label(shift(change))) " · " (time::utc(change.at_us)) " UTC · "
                a href=(to_run(frame, &change.run)) { (change.run) } }
            @if !change.facts.is_empty() {
                p.soft { (words.label(dashboard::then())) }
                ul { @for fact in change.facts.iter().take(FACTS) {
                    li { code { (fact.fact) } ": " (fact.before.as_deref().unwrap_or(&unknown)) " → "
                        (fact.after.as_deref().unwrap_or(&unknown)) }
                } }
                @let more = change.facts.len().saturating_sub(FACTS);
                @if more > 0 { p.soft { (words.label(dashboard::more_facts(more))) } }
            }
        }
    }
}
