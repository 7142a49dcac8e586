//! The file around the sections: head, style, script, data, and the policy that lets nothing else
//! in.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    Section,
    chart::Chart,
    charts::{Charts, Timeline},
    words::Words,
};

/// uPlot 1.6.32 from npm, MIT: charts of time series, 50 kB, no dependencies.
const UPLOT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("assets/uplot/LICENSE");
const SCRIPT: &str = include_str!("assets/page.js");
const STYLE: &str = include_str!("assets/page.css");

/// Size of a page, bytes, that the timelines fill up: below 500 kB with what is not counted.
const PAGE: usize = 490_000;
/// Room that the timelines have in any case, and at most.
const TIMELINES: std::ops::RangeInclusive<usize> = 60_000..=300_000;

/// What a page is made of.
pub(super) struct Page<'a> {
    pub(super) title: String,
    pub(super) top: Markup,
    pub(super) sections: Vec<Section>,
    pub(super) charts: Charts,
    pub(super) program: &'a str,
    pub(super) words: &'a Words,
}

/// What the script reads beside the timelines.
#[derive(Serialize)]
struct Data<'a> {
    lang: &'a str,
    charts: &'a [Chart],
    start: Option<u32>,
    words: Vec<(&'static str, String)>,
}

/// Where the script puts a number into a text.
const HOLE: &str = "…";

/// Words that the script puts into the page.
const SCRIPT_WORDS: [&str; 14] = [
    "panel-goodput",
    "panel-cwnd",
    "panel-cwnd-kb",
    "panel-delay",
    "panel-retransmitted",
    "series-rtt",
    "series-queue",
    "series-probe",
    "series-probe-low",
    "axis-time",
    "time-left-out",
    "time-bucket",
    "time-window",
    "broken",
];

pub(super) fn page(page: &Page<'_>) -> String {
    let words = page.words;
    let script = format!("{UPLOT}\n/*\nuPlot: {UPLOT_LICENCE}*/\n{SCRIPT}");
    let style = format!("{UPLOT_STYLE}\n{STYLE}");
    let data = Data {
        lang: words.lang.tag(),
        charts: &page.charts.drawn,
        start: page.charts.start,
        words: SCRIPT_WORDS
            .map(|id| {
                (
                    id,
                    words.fill(id, &[("n", HOLE.into()), ("ms", HOLE.into())]),
                )
            })
            .to_vec(),
    };
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; script-src '{}'; style-src '{}'",
        hash(&script),
        hash(&style)
    );
    let data = json(&data);
    let sections = page.sections.iter().map(|s| s.body.0.len());
    let rest = style.len() + script.len() + data.len() + page.top.0.len() + sections.sum::<usize>();
    let room = PAGE.saturating_sub(rest);
    let room = room.clamp(*TIMELINES.start(), *TIMELINES.end());
    let markup = html! {
        (DOCTYPE)
        html lang=(words.lang.tag()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content={ "pathtwin " (page.program) };
                title { (page.title) }
                style { (PreEscaped(style)) }
            }
            body {
                a.skip href="#main" { (words.say("skip")) }
                header {
                    nav aria-label=(words.say("contents")) {
                        span.brand { "pathtwin" }
                        ul { @for s in &page.sections {
                            li { a href={ "#" (s.id) } { (words.say(s.nav)) } }
                        } }
                    }
                }
                main id="main" tabindex="-1" {
                    (page.top)
                    @for s in &page.sections {
                        section id=(s.id) aria-labelledby={ (s.id) "-title" } {
                            h2 id={ (s.id) "-title" } { (words.say(s.title)) }
                            (s.body)
                        }
                    }
                }
                footer { p { "pathtwin " (page.program) " · " (words.say("footer")) } }
                script type="application/json" id="data" { (PreEscaped(data)) }
                @if let Some(packed) = pack(&page.charts.timelines, room) {
                    script type="text/plain" id="timelines" { (packed) }
                }
                script { (PreEscaped(script)) }
            }
        }
    };
    markup.into_string()
}

/// JSON that cannot end the element it stands in.
fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    text.replace('<', "\\u003c")
}

/// The hash by which the policy knows a text.
fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("sha256-{}", BASE64_STANDARD.encode(digest))
}

/// The timelines as one text: JSON, deflated, in base64. What does not fit is left out, the steps
/// that stand for their like last; the script says how many are missing.
fn pack(timelines: &[Timeline], room: usize) -> Option<String> {
    #[derive(Serialize)]
    struct Packed<'a> {
        left_out: usize,
        steps: Vec<&'a Timeline>,
    }
    if timelines.is_empty() {
        return None;
    }
    // The finest first: those with the most buckets stand for their like.
    let mut order: Vec<&Timeline> = timelines.iter().collect();
    order.sort_by_key(|t| std::cmp::Reverse(t.rank));
    let mut keep = order.len();
    loop {
        let mut steps = order[..keep].to_vec();
        steps.sort_by_key(|t| t.n);
        let packed = Packed {
            left_out: order.len() - keep,
            steps,
        };
        let text = serde_json::to_vec(&packed).ok()?;
        let deflated = miniz_oxide::deflate::compress_to_vec_zlib(&text, 9);
        let encoded = BASE64_STANDARD.encode(deflated);
        if encoded.len() <= room || keep == 1 {
            return Some(encoded);
        }
        keep = (keep * room / encoded.len()).clamp(1, keep - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_element() {
        assert_eq!(json(&"</script><b>"), "\"\\u003c/script>\\u003cb>\"");
    }

    #[test]
    fn the_policy_names_a_text_as_browsers_do() {
        // printf 'doSomething();' | openssl dgst -sha256 -binary | openssl base64
        let known = "sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc=";
        assert_eq!(hash("doSomething();"), known);
    }
}
