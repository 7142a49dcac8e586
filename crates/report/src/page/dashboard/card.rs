//! Summary card of a path: state, tunnel, figures compared with the usual ones, causes.

use maud::{Markup, html};
use model::{facts::Connection, findings::Severity};

use super::{
    CHANGED_DAYS, Card, Frame, Glance, Live, State, Tone, chart,
    frame::{figure_name, series_name, step_name, to_run, to_series},
};
use crate::{
    page::words::{
        Words,
        label::{self, dashboard},
    },
    plain::named_figure,
    time,
};

/// State of a card: CSS class, symbol, text. The symbol means the same as the colour.
fn state(state: State, words: &Words) -> (&'static str, &'static str, String) {
    match state {
        State::Usual => ("well", "✓", words.label(dashboard::usual())),
        State::Worse => ("medium", "◆", words.label(dashboard::worse())),
        State::Changed => ("low", "●", words.label(dashboard::changed(CHANGED_DAYS))),
        State::Old => ("open", "?", words.label(dashboard::old())),
        State::Unreachable => ("high", "▲", words.label(dashboard::unreachable())),
        State::New => ("open", "·", words.label(dashboard::new())),
    }
}

/// The head of a card: state, tunnel, newest run.
pub(super) fn head(card: &Card, frame: &Frame, words: &Words) -> Markup {
    let (class, sign, text) = state(card.state, words);
    html! {
        p.state {
            span.badge.(class) { span aria-hidden="true" { (sign) " " } (text) }
            @if let Some(connection) = &card.connection {
                @let class = match connection { Connection::Relayed(_) => "medium", _ => "plain" };
                @let text = words.render(&connection.text());
                span.badge.(class) { (words.label(label::layer_tunnel())) ": " (text.text) }
            }
            @if let Some((run, at_us)) = &card.run {
                span.soft { a href=(to_run(frame, run)) { (words.label(dashboard::run())) }
                    " " (time::utc(*at_us)) " UTC" }
            }
        }
        @for trouble in &card.troubles {
            @let trouble = words.render(trouble);
            p.warning lang=[trouble.lang] { (trouble.capital()) (trouble.stop()) }
        }
        @if !card.causes.is_empty() {
            ul.found { @for (severity, title) in card.causes.iter().take(3) {
                @let title = words.render(title);
                li class=(tone_of(*severity)) {
                    span lang=[title.lang] { (title.capital()) } " "
                    span.soft { (words.severity(*severity)) }
                }
            } }
        }
    }
}

fn tone_of(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
        Severity::Info => "plain",
    }
}

/// The figures of a card as a table, each with its sparkline.
pub(super) fn figures(card: &Card, frame: &Frame, words: &Words) -> Markup {
    html! {
        @if !card.figures.is_empty() {
            div.wide tabindex="0" role="group" aria-label={ (card.path) ": " (words.label(dashboard::figures())) } {
                table.glances {
                    thead { tr {
                        th scope="col" { (words.label(label::what())) }
                        th.number scope="col" { (words.label(dashboard::today())) }
                        th.number scope="col" { (words.label(dashboard::usually())) }
                        th scope="col" { (words.label(dashboard::trend())) }
                    } }
                    tbody { @for glance in &card.figures { (row(glance, frame, words)) } }
                }
            }
        }
    }
}

fn row(glance: &Glance, frame: &Frame, words: &Words) -> Markup {
    let series = &glance.series;
    let show = |value: f64| named_figure(&series.figure, value);
    let (class, sign) = match glance.tone {
        Tone::Usual => ("", ""),
        Tone::Better => ("good", "▲ "),
        Tone::Worse => ("bad", "▼ "),
    };
    html! {
        tr {
            th scope="row" {
                a href=(to_series(frame, series)) { (figure_name(&series.figure, words)) }
                span.interval { (step_name(&series.step, words)) }
            }
            td.number class=(class) {
                @match glance.today {
                    Some(today) => {
                        @if !sign.is_empty() {
                            span aria-hidden="true" { (sign) }
                            span.hidden { (tone_words(glance.tone, words)) " " }
                        }
                        data value=(today) { (show(today)) }
                    }
                    None => (words.label(label::unknown())),
                }
            }
            td.number { @if let Some(usual) = glance.usual { data value=(usual) { (show(usual)) } } }
            td { (chart::spark(&glance.values, &series_name(series, words))) }
        }
    }
}

fn tone_words(tone: Tone, words: &Words) -> String {
    match tone {
        Tone::Worse => words.label(dashboard::worse()),
        _ => words.label(dashboard::better()),
    }
}

/// The values of a watch.
pub(super) fn live(live: &[Live], words: &Words) -> Markup {
    html! {
        @if !live.is_empty() {
            dl.live aria-label=(words.label(dashboard::live())) { @for value in live {
                @let name = words.render(&value.name);
                div {
                    dt { span lang=[name.lang] { (name.capital()) } " · " (words.layer(value.layer))
                        @if let Some(direction) = value.direction { " · " (words.direction(direction)) } }
                    dd { (words.value(&value.latest))
                        @if let Some(usual) = &value.usual {
                            span.interval { (words.label(dashboard::usually_value(usual.clone()))) }
                        }
                    }
                }
            } }
        }
    }
}
