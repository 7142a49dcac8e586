//! Frame of the pages, their links, and names of series.

use maud::{DOCTYPE, Markup, html};
use model::{
    history::{FigureName, SeriesName, StepName},
    net::IpVersion,
    run::{FigureKind, Key},
    text::Text,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Frame;
use crate::{
    page::words::{
        Lang, Words,
        label::{self, dashboard},
    },
    time,
};

/// A page with its title and content. `here`: the link of its entry in the navigation.
pub(super) fn page(frame: &Frame, title: &str, here: &str, body: &Markup) -> String {
    framed(frame, title, here, (body, true))
}

/// A page without the script, which a reader without the token may not have.
pub(super) fn page_without_script(frame: &Frame, title: &str, body: &Markup) -> String {
    framed(frame, title, "", (body, false))
}

fn framed(frame: &Frame, title: &str, here: &str, (body, script): (&Markup, bool)) -> String {
    let words = Words::new(frame.lang);
    let (other, tag, name) = match frame.lang {
        Lang::English => (Lang::SimplifiedChinese, "zh-CN", "中文"),
        Lang::SimplifiedChinese => (Lang::English, "en", "English"),
    };
    let mut entries = vec![("/", words.label(dashboard::paths()))];
    if frame.mesh {
        entries.push(("/mesh", words.label(dashboard::mesh())));
    }
    let read = dashboard::read(time::utc(frame.now_us));
    let kept = frame.query.iter().filter(|(key, _)| key != "lang");
    let kept = kept.map(|(key, value)| format!("{key}={}&", encoded(value)));
    let same: String = kept.collect();
    let markup = html! {
        (DOCTYPE)
        html lang=(frame.lang.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="data:,";
                @if script { script src="/live.js" defer {} }
            }
            body {
                a.skip href="#main" { (words.label(dashboard::skip())) }
                header {
                    nav aria-label=(words.label(label::contents())) {
                        span.brand { "pathtwin" }
                        ul {
                            @for (link, name) in &entries {
                                li { a href=(to(frame, link, &[]))
                                    aria-current=[(*link == here).then_some("page")] { (name) } }
                            }
                            li.lang { a href={ "?" (same) "lang=" (tag) } lang=(tag) hreflang=(other.tag()) { (name) } }
                        }
                    }
                }
                main id="main" tabindex="-1" { (body) }
                footer { p id="read" data-live {
                    "pathtwin " (frame.program) " · " (words.label(read))
                } }
            }
        }
    };
    markup.into_string()
}

/// A link to a page of the same server.
pub(super) fn to(frame: &Frame, page: &str, query: &[(&str, &str)]) -> String {
    let lang = frame.chosen.then_some(("lang", frame.lang.tag()));
    let pairs = query.iter().copied().chain(lang);
    let pairs: Vec<String> = pairs
        .map(|(key, value)| format!("{key}={}", encoded(value)))
        .collect();
    match pairs.is_empty() {
        true => page.to_owned(),
        false => format!("{page}?{}", pairs.join("&")),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// The link to a path.
pub(super) fn to_path(frame: &Frame, path: &str) -> String {
    to(frame, "/path", &[("name", path)])
}

/// The link to the report of a run.
pub(super) fn to_run(frame: &Frame, run: &str) -> String {
    to(frame, &format!("/run/{run}"), &[])
}

/// The name of a figure, as a heading. An unknown name is shown unchanged.
pub(super) fn figure_name(figure: &FigureName, words: &Words) -> String {
    match figure.known() {
        Some(kind) => figure_kind(*kind, words),
        None => figure.to_string(),
    }
}

/// The name of a kind of figure, as a heading.
pub(super) fn figure_kind(kind: FigureKind, words: &Words) -> String {
    let name = words.render(&Text::fixed(kind.text()));
    name.capital().into_owned()
}

/// The name of a measurement; an unknown one stays as the history has it.
pub(super) fn step_name(step: &StepName, words: &Words) -> String {
    match step.known() {
        Some(key) => measurement(key, words),
        None => step.to_string(),
    }
}

/// The name of a measurement with its layer; IPv4 is not mentioned.
pub(super) fn measurement(key: &Key, words: &Words) -> String {
    let families = key.family == IpVersion::V6;
    format!("{} · {}", words.layer(key.layer), words.key(key, families))
}

/// The whole name of a series.
pub(super) fn series_name(series: &SeriesName, words: &Words) -> String {
    let figure = figure_name(&series.figure, words);
    format!("{figure} · {}", step_name(&series.step, words))
}

/// A link to the page of a path with this series first.
pub(super) fn to_series(frame: &Frame, series: &SeriesName) -> String {
    let (step, figure) = (series.step.to_string(), series.figure.to_string());
    let query = [
        ("name", series.path.as_str()),
        ("step", &step),
        ("figure", &figure),
    ];
    to(frame, "/path", &query)
}
