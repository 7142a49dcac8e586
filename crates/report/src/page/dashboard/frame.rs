//! Frame of the pages, their links, and names of series.

use maud::{DOCTYPE, Markup, html};
use model::{history::SeriesName, run::FigureKind, text::Text};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Frame;
use crate::{
    page::words::{Lang, Words},
    time,
};

/// A page with its title and content. `here`: the link of its entry in the navigation.
pub(super) fn page(frame: &Frame, title: &str, here: &str, body: &Markup) -> String {
    let words = Words::new(frame.lang);
    let (other, tag, name) = match frame.lang {
        Lang::English => (Lang::SimplifiedChinese, "zh-CN", "中文"),
        Lang::SimplifiedChinese => (Lang::English, "en", "English"),
    };
    let mut entries = vec![("/", words.label("dash-paths"))];
    if frame.mesh {
        entries.push(("/mesh", words.label("dash-mesh")));
    }
    let read = [("at", time::utc(frame.now_us).into())];
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
                script src="/live.js" defer {}
            }
            body {
                a.skip href="#main" { (words.label("dash-skip")) }
                header {
                    nav aria-label=(words.label("contents")) {
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
                    "pathtwin " (frame.program) " · " (words.fill("dash-read", &read))
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

/// The name of a figure, as a heading.
pub(super) fn figure_name(figure: &str, words: &Words) -> String {
    figure.parse::<FigureKind>().map_or_else(
        |_| figure.to_owned(),
        |kind| {
            words
                .render(&Text::fixed(kind.text()))
                .capital()
                .into_owned()
        },
    )
}

/// Returns the text of a step name in the history, such as `tunnel/v4 tcp down x1 cubic`. Unknown
/// parts are unchanged.
pub(super) fn step_name(step: &str, words: &Words) -> String {
    let (place, rest) = step.split_once(' ').unwrap_or((step, ""));
    let (layer, family) = place.split_once('/').unwrap_or((place, ""));
    let layer = match layer {
        "underlay" => words.label("layer-underlay"),
        "tunnel" => words.label("layer-tunnel"),
        other => other.to_owned(),
    };
    let mut parts = vec![layer];
    if family == "v6" {
        parts.push("IPv6".to_owned());
    }
    parts.extend(rest.split(' ').filter(|w| !w.is_empty()).map(|word| {
        let flows = word.strip_prefix('x').and_then(|n| n.parse::<u32>().ok());
        match (word, flows) {
            ("idle", _) => words.label("step-idle"),
            ("udp-sweep", _) => words.label("step-udp-sweep"),
            ("tcp", _) => words.label("step-tcp"),
            ("down", _) => words.label("direction-down"),
            ("up", _) => words.label("direction-up"),
            ("bidirectional", _) => words.label("bidirectional"),
            (_, Some(n)) => words.fill("flows", &[("n", n.into())]),
            _ => word.to_owned(),
        }
    }));
    parts.join(" · ")
}

/// The whole name of a series.
pub(super) fn series_name(series: &SeriesName, words: &Words) -> String {
    let figure = figure_name(&series.figure, words);
    format!("{figure} · {}", step_name(&series.step, words))
}
