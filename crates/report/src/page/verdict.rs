//! What limits the path, in plain words first, then on what evidence, and what to do.

use maud::{Markup, html};
use model::{
    findings::{CannotTell, EvidenceItem, Finding, Findings, RuledOut, Severity},
    remedy::{Dialect, Remedy, commands},
    run::Run,
};

use super::words::{Told, Words};

/// How the path is doing, for the mark beside the verdict: name of the class, key of the word,
/// sign. The sign and the word carry what the colour does.
fn tone(findings: &Findings) -> (&'static str, &'static str, &'static str) {
    let healthy = findings.findings.iter().any(|f| f.code == "healthy");
    match findings.worst() {
        Some(Severity::High) => ("high", "tone-high", "▲"),
        Some(Severity::Medium) => ("medium", "tone-medium", "◆"),
        Some(Severity::Low) => ("low", "tone-low", "●"),
        Some(Severity::Info) if healthy => ("well", "tone-well", "✓"),
        _ => ("open", "tone-open", "?"),
    }
}

/// The findings that are more than a remark, or the one that says that all is well.
fn main(findings: &Findings) -> Vec<&Finding> {
    let grave: Vec<&Finding> = findings
        .findings
        .iter()
        .filter(|f| f.severity > Severity::Info)
        .collect();
    if grave.is_empty() {
        return findings.findings.iter().take(1).collect();
    }
    grave
}

/// The first thing on the page.
pub(super) fn html(run: &Run, findings: &Findings, words: &Words) -> Markup {
    let (class, word, sign) = tone(findings);
    let first = main(findings).first().copied();
    let headline = first.map_or_else(
        || words.say("verdict-open"),
        |f| words.told(&f.title).capital().into_owned(),
    );
    let place = first.and_then(|f| words.place(f.place));
    let judged = findings.layer.map(|l| words.layer(l));
    html! {
        div.verdict.(class) {
            p.tone {
                span.sign aria-hidden="true" { (sign) }
                span { (words.say(word)) }
                @if let Some(f) = first {
                    span.sure { (sure(f, words)) }
                }
            }
            h1 {
                (headline)
                @if let Some(place) = place { span.place { (place) } }
            }
            @match first {
                Some(f) => (sentence(&says(f, words), Some("says"))),
                None => (summary(findings, words)),
            }
            @if let Some(f) = first { (next(f, words)) }
            @if let Some(layer) = judged {
                @if run.lab { p.note { (words.fill("verdict-judged-lab", &[("layer", layer.into())])) } }
                @else { p.note { (words.fill("verdict-judged", &[("layer", layer.into())])) } }
            }
        }
    }
}

/// What else was found.
pub(super) fn others(findings: &Findings, words: &Words) -> Markup {
    let main = main(findings);
    html! {
        @if main.len() > 1 {
            div.others {
                h2 { (words.say("others-title")) }
                ol start="2" {
                    @for f in &main[1..] { li { a href={ "#cause-" (f.code) } {
                        (words.told(&f.title).capital()) }
                        @if let Some(place) = words.place(f.place) { (words.say("comma")) (place) }
                        span.sure { (words.severity(f.severity)) " · " (sure(f, words)) }
                    } }
                }
            }
        }
    }
}

/// What a finding says.
fn says(finding: &Finding, words: &Words) -> Told {
    words.told(&finding.text)
}

/// A sentence of a finding as a paragraph.
fn sentence(told: &Told, class: Option<&str>) -> Markup {
    html! { p class=[class] lang=[told.lang] { (told.capital()) (told.stop()) } }
}

fn summary(findings: &Findings, words: &Words) -> Markup {
    let told = words.told(&findings.summary);
    html! { p.says lang=[told.lang] { (told.text) } }
}

fn sure(finding: &Finding, words: &Words) -> String {
    let percent = format!("{:.0} %", finding.confidence * 100.0);
    words.fill("sure", &[("percent", percent.into())])
}

/// What to do, where, and why there.
fn next(finding: &Finding, words: &Words) -> Markup {
    let why = finding.remedies.first().map(|r| words.told(&r.why_there));
    html! {
        div.next {
            @for (number, remedy) in finding.remedies.iter().enumerate() {
                (step(number == 0, remedy, words))
            }
            @if let Some(why) = why {
                p.why { (words.say("why-there")) " " span lang=[why.lang] { (why.text) (why.stop()) } }
            }
        }
    }
}

/// One thing to do, with the commands that do it.
fn step(first: bool, remedy: &Remedy, words: &Words) -> Markup {
    let what = words.told(&remedy.sentence());
    let title = match (first, remedy.on.side()) {
        (false, _) => words.say("next-also"),
        (true, Some(side)) => words.fill("next-on", &[("host", words.side(side).into())]),
        (true, None) => words.say("next"),
    };
    html! {
        p { strong { (title) } " " span lang=[what.lang] { (what.capital()) (what.stop()) } }
        @for dialect in crate::findings::dialects(remedy) {
            @let commands = commands(remedy, dialect);
            @if !commands.is_empty() {
                @if dialect == Dialect::OpenWrt { p.note { (words.say("openwrt")) } }
                pre.commands tabindex="0" translate="no" { code { (commands.join("\n")) } }
            }
        }
    }
}

/// Every finding with its evidence, then what was ruled out and what cannot be told.
pub(super) fn rest(findings: &Findings, words: &Words) -> Option<Markup> {
    let none = findings.findings.is_empty()
        && findings.ruled_out.is_empty()
        && findings.cannot_tell.is_empty();
    if none {
        return None;
    }
    Some(html! {
        @for (number, f) in findings.findings.iter().enumerate() { (one(number + 1, f, words)) }
        @if !findings.cannot_tell.is_empty() {
            details.more {
                summary { (words.fill("cannot-tell", &[("n", findings.cannot_tell.len().into())])) }
                (listed(findings.cannot_tell.iter().map(|c| open(c, words)).collect()))
            }
        }
        @if !findings.ruled_out.is_empty() {
            details.more {
                summary { (words.fill("ruled-out", &[("n", findings.ruled_out.len().into())])) }
                (listed(findings.ruled_out.iter().map(|r| out(r, words)).collect()))
            }
        }
    })
}

/// A cause, where, and what is said of it.
struct Line {
    cause: String,
    place: Option<String>,
    told: Told,
}

fn out(item: &RuledOut, words: &Words) -> Line {
    Line {
        cause: words.cause_code(&item.code),
        place: words.place(item.place),
        told: words.told(&item.why),
    }
}

fn open(item: &CannotTell, words: &Words) -> Line {
    Line {
        cause: words.cause_code(&item.code),
        place: words.place(item.place),
        told: words.would_tell(item),
    }
}

fn listed(lines: Vec<Line>) -> Markup {
    html! {
        dl.listed {
            @for line in lines {
                div {
                    dt { (line.cause) @if let Some(place) = line.place { span.place { (place) } } }
                    dd lang=[line.told.lang] { (line.told.capital()) }
                }
            }
        }
    }
}

fn one(number: usize, finding: &Finding, words: &Words) -> Markup {
    html! {
        article.cause id={ "cause-" (finding.code) } {
            h3 {
                span.number { (number) }
                (words.told(&finding.title).capital())
                @if let Some(place) = words.place(finding.place) { span.place { (place) } }
            }
            p.sure { (words.severity(finding.severity)) " · " (sure(finding, words)) " · " code { (finding.code) } }
            (sentence(&says(finding, words), None))
            @if !finding.evidence.is_empty() { (evidence(&finding.evidence, words)) }
            (next(finding, words))
            @if let Some(settle) = &finding.settle {
                (surer(&words.told(settle), words))
            }
        }
    }
}

fn surer(settle: &Told, words: &Words) -> Markup {
    html! {
        p.note { (words.say("surer")) " " span lang=[settle.lang] { (settle.text) (settle.stop()) } }
    }
}

fn evidence(items: &[EvidenceItem], words: &Words) -> Markup {
    let arithmetic = items.iter().any(|e| e.arithmetic.is_some());
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.say("evidence")) {
            table.evidence {
                thead { tr {
                    th scope="col" { (words.say("evidence")) }
                    th.number scope="col" { (words.say("evidence-value")) }
                    th scope="col" { (words.say("evidence-bound")) }
                    @if arithmetic { th scope="col" { (words.say("evidence-arithmetic")) } }
                } }
                tbody { @for e in items { (item(e, arithmetic, words)) } }
            }
        }
    }
}

fn item(e: &EvidenceItem, arithmetic: bool, words: &Words) -> Markup {
    let name = words.told(&e.name);
    let bound = e.bound.as_ref().map(|text| words.told(text));
    let how = e.arithmetic.as_ref().map(|text| words.told(text));
    html! {
        tr.decides[e.decides] {
            th scope="row" {
                span lang=[name.lang] { (name.text) }
                @if let Some(end) = e.end { (words.say("comma")) (words.side(end)) }
                @if e.decides { span.mark { (words.say("evidence-decides")) } }
            }
            td.number { (words.value(&e.value)) }
            (cell(bound, None))
            @if arithmetic { (cell(how, Some("small"))) }
        }
    }
}

fn cell(told: Option<Told>, class: Option<&str>) -> Markup {
    let lang = told.as_ref().and_then(|told| told.lang);
    html! { td class=[class] lang=[lang] { @if let Some(told) = told { (told.text) } } }
}
