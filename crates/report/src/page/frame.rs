//! HTML document around the sections: head, style, script, data and content security policy.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::text::Text;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    chart::Chart,
    charts::{Charts, Timeline},
    words::{Words, label},
};

/// uPlot 1.6.32 from npm, MIT: charts of time series, 50 kB, no dependencies.
const UPLOT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("assets/uplot/LICENSE");
const SCRIPT: &str = include_str!("assets/page.js");
pub(super) const STYLE: &str = include_str!("assets/page.css");

/// Target size of a page including timelines, bytes: below 500 kB with the overhead that is not
/// counted.
const PAGE: usize = 490_000;
/// Minimum and maximum space for timelines.
const TIMELINES: std::ops::RangeInclusive<usize> = 60_000..=300_000;

/// One section: anchor, names, content.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: Text,
    /// Its short name in the table of contents.
    pub(super) nav: Text,
    pub(super) body: Markup,
}

/// Content of a page.
pub(super) struct Page<'a> {
    pub(super) title: String,
    pub(super) top: Markup,
    pub(super) sections: Vec<Section>,
    pub(super) charts: Charts,
    pub(super) program: &'a str,
    pub(super) words: &'a Words,
}

/// Data of the script besides the timelines.
#[derive(Serialize)]
struct Data<'a> {
    lang: &'a str,
    charts: &'a [Chart],
    start: Option<u32>,
    words: Vec<(&'static str, String)>,
}

/// Placeholder for a number in texts of the script.
const PLACEHOLDER: &str = "…";

/// Texts of the script, by the names that it uses.
pub(super) fn script_words() -> [(&'static str, Text); 16] {
    [
        ("copy", label::copy()),
        ("copied", label::copied()),
        ("panel-goodput", label::panel_goodput()),
        ("panel-cwnd", label::panel_cwnd()),
        ("panel-cwnd-kb", label::panel_cwnd_kb()),
        ("panel-delay", label::panel_delay()),
        ("panel-retransmitted", label::panel_retransmitted()),
        ("series-rtt", label::series_rtt()),
        ("series-queue", label::series_queue()),
        ("series-probe", label::series_probe()),
        ("series-probe-low", label::series_probe_low()),
        ("axis-time", label::axis_time()),
        ("time-left-out", label::time_left_out(PLACEHOLDER)),
        ("time-bucket", label::time_bucket(PLACEHOLDER)),
        ("time-window", label::time_window()),
        ("broken", label::broken()),
    ]
}

pub(super) fn page(page: &Page<'_>) -> String {
    let words = page.words;
    let (script, style) = (script(), style());
    let data = Data {
        lang: words.lang.tag(),
        charts: &page.charts.drawn,
        start: page.charts.start,
        words: script_words()
            .map(|(name, text)| (name, words.label(text)))
            .to_vec(),
    };
    let data = json(&data);
    let sections = page.sections.iter().map(|s| s.body.0.len());
    let rest = style.len() + script.len() + data.len() + page.top.0.len() + sections.sum::<usize>();
    let room = PAGE.saturating_sub(rest);
    let room = room.clamp(*TIMELINES.start(), *TIMELINES.end());
    let markup = html! {
        (DOCTYPE)
        html lang=(words.lang.tag()) {
            (head(&page.title, &script, &style, page.program))
            body {
                a.skip href="#main" { (words.label(label::skip())) }
                header {
                    nav aria-label=(words.label(label::contents())) {
                        span.brand { "pathtwin" }
                        ul { @for s in &page.sections {
                            li { a href={ "#" (s.id) } { (words.label(s.nav.clone())) } }
                        } }
                    }
                }
                main id="main" tabindex="-1" {
                    (page.top)
                    @for s in &page.sections {
                        section id=(s.id) aria-labelledby={ (s.id) "-title" } {
                            h2 id={ (s.id) "-title" } { (words.label(s.title.clone())) }
                            (s.body)
                        }
                    }
                }
                footer { p { "pathtwin " (page.program) " · " (words.label(label::footer())) } }
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

/// The head of a page with that script and style. `program`: version of the writing program.
pub(super) fn head(title: &str, script: &str, style: &str, program: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy_of(script, style));
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            meta name="generator" content={ "pathtwin " (program) };
            title { (title) }
            style { (PreEscaped(style)) }
        }
    }
}

fn script() -> String {
    format!("{UPLOT}\n/*\nuPlot: {UPLOT_LICENCE}*/\n{SCRIPT}")
}

fn style() -> String {
    format!("{UPLOT_STYLE}\n{STYLE}")
}

/// The content security policy of every report, for servers that send one as a header.
pub fn policy() -> String {
    policy_of(&script(), &style())
}

fn policy_of(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; script-src '{}'; style-src '{}'",
        hash(script),
        hash(style)
    )
}

/// JSON that cannot close its enclosing element.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    text.replace('<', "\\u003c")
}

/// Hash of a text for the content security policy.
fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("sha256-{}", BASE64_STANDARD.encode(digest))
}

/// The timelines as JSON, deflated, in base64. Steps that do not fit are left out, representative
/// ones last; the script shows the number of missing steps.
fn pack(timelines: &[Timeline], room: usize) -> Option<String> {
    #[derive(Serialize)]
    struct Packed<'a> {
        left_out: usize,
        steps: Vec<&'a Timeline>,
    }
    if timelines.is_empty() {
        return None;
    }
    // Finest first: representative steps have the most buckets.
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
