//! Verdict section: findings with evidence and remedies.

use maud::{Markup, html};
use model::{
    findings::{CannotTell, EvidenceItem, Finding, Findings, RuledOut, Severity},
    remedy::{Dialect, Remedy, commands},
    run::Run,
    text::{Text, Value},
};

use super::{
    tiles,
    words::{Rendered, Words, label},
};

/// Status mark of the verdict: CSS class, key of the text, symbol. Symbol and text have the same
/// meaning as the colour.
fn tone(findings: &Findings) -> (&'static str, Text, &'static str) {
    match findings.worst() {
        Some(Severity::High) => ("high", label::tone_high(), "▲"),
        Some(Severity::Medium) => ("medium", label::tone_medium(), "◆"),
        Some(Severity::Low) => ("low", label::tone_low(), "●"),
        _ if findings.is_healthy() => ("well", label::tone_well(), "✓"),
        _ => ("open", label::tone_open(), "?"),
    }
}

/// The first section of the page.
pub(super) fn html(run: &Run, findings: &Findings, words: &Words) -> Markup {
    let (class, word, sign) = tone(findings);
    let first = findings.main();
    let headline = first.map_or_else(
        || words.label(label::verdict_open()),
        |f| words.render(&f.title).capital().into_owned(),
    );
    let place = first.and_then(|f| words.place(f.place));
    let judged = findings.layer.map(label::layer);
    html! {
        div.verdict.(class) {
            p.tone {
                span.sign aria-hidden="true" { (sign) }
                span { (words.label(word)) }
                @if let Some(f) = first {
                    span.sure { (sure(f, words)) }
                }
            }
            h1 {
                (headline)
                @if let Some(place) = place { span.place { (place) } }
            }
            (tiles::shares(run, words))
            @match first {
                Some(f) => (sentence(&caption(f, words), Some("finding-text"))),
                None => (summary(findings, words)),
            }
            @if let Some(f) = first { (next(f, words)) }
            @if let Some(layer) = judged {
                @if run.lab { p.note { (words.label(label::verdict_judged_lab(layer))) } }
                @else { p.note { (words.label(label::verdict_judged(layer))) } }
            }
        }
    }
}

/// Further findings.
pub(super) fn others(findings: &Findings, words: &Words) -> Markup {
    let others: Vec<&Finding> = findings.others().collect();
    html! {
        @if !others.is_empty() {
            div.others {
                h2 { (words.label(label::others_title())) }
                ol start="2" {
                    @for f in others { li { a href={ "#cause-" (f.code) } {
                        (words.render(&f.title).capital()) }
                        @if let Some(place) = words.place(f.place) { (words.label(label::comma())) (place) }
                        span.sure { (words.severity(f.severity)) " · " (sure(f, words)) }
                    } }
                }
            }
        }
    }
}

/// Description of a finding.
fn caption(finding: &Finding, words: &Words) -> Rendered {
    words.render(&finding.text)
}

/// A sentence of a finding as a paragraph.
fn sentence(rendered: &Rendered, class: Option<&str>) -> Markup {
    html! { p class=[class] lang=[rendered.lang] { (rendered.capital()) (rendered.stop()) } }
}

fn summary(findings: &Findings, words: &Words) -> Markup {
    let rendered = words.render(&findings.summary);
    html! { p.description lang=[rendered.lang] { (rendered.text) } }
}

fn sure(finding: &Finding, words: &Words) -> String {
    let share = (finding.confidence * 100.0).round() / 100.0;
    words.label(label::sure(Value::Share(share)))
}

/// Remedies with location and reason.
fn next(finding: &Finding, words: &Words) -> Markup {
    let why = finding.remedies.first().map(|r| words.render(&r.why_there));
    html! {
        div.next {
            @for (number, remedy) in finding.remedies.iter().enumerate() {
                (step(number == 0, remedy, words))
            }
            @if let Some(why) = why {
                p.why { (words.label(label::why_there())) " " span lang=[why.lang] { (why.text) (why.stop()) } }
            }
        }
    }
}

/// A remedy with its commands.
fn step(first: bool, remedy: &Remedy, words: &Words) -> Markup {
    let what = words.render(&remedy.sentence());
    let title = match (first, remedy.on.side()) {
        (false, _) => words.label(label::next_also()),
        (true, Some(side)) => words.label(label::next_on(side)),
        (true, None) => words.label(label::next()),
    };
    html! {
        p { strong { (title) } " " span lang=[what.lang] { (what.capital()) (what.stop()) } }
        @for dialect in crate::findings::dialects(remedy) {
            @let commands = commands(remedy, dialect);
            @if !commands.is_empty() {
                @if dialect == Dialect::OpenWrt { p.note { (words.label(label::openwrt())) } }
                pre.commands tabindex="0" translate="no" { code { (commands.join("\n")) } }
            }
        }
    }
}

/// All findings with evidence, then ruled-out and undecided causes.
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
                summary { (words.label(label::cannot_tell(findings.cannot_tell.len()))) }
                (listed(findings.cannot_tell.iter().map(|c| open(c, words)).collect()))
            }
        }
        @if !findings.ruled_out.is_empty() {
            details.more {
                summary { (words.label(label::ruled_out(findings.ruled_out.len()))) }
                (listed(findings.ruled_out.iter().map(|r| out(r, words)).collect()))
            }
        }
    })
}

/// A cause with place and text.
struct Line {
    cause: String,
    place: Option<String>,
    rendered: Rendered,
}

fn out(item: &RuledOut, words: &Words) -> Line {
    Line {
        cause: words.cause_code(&item.code),
        place: words.place(item.place),
        rendered: words.render(&item.why),
    }
}

fn open(item: &CannotTell, words: &Words) -> Line {
    Line {
        cause: words.cause_code(&item.code),
        place: words.place(item.place),
        rendered: words.undecided(item),
    }
}

fn listed(lines: Vec<Line>) -> Markup {
    html! {
        dl.listed {
            @for line in lines {
                div {
                    dt { (line.cause) @if let Some(place) = line.place { span.place { (place) } } }
                    dd lang=[line.rendered.lang] { (line.rendered.capital()) }
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
                (words.render(&finding.title).capital())
                @if let Some(place) = words.place(finding.place) { span.place { (place) } }
            }
            p.sure { (words.severity(finding.severity)) " · " (sure(finding, words)) " · " code { (finding.code) } }
            (sentence(&caption(finding, words), None))
            @if !finding.evidence.is_empty() { (evidence(&finding.evidence, words)) }
            (next(finding, words))
            @if let Some(settle) = &finding.settle {
                (confirmation(&words.render(settle), words))
            }
        }
    }
}

fn confirmation(settle: &Rendered, words: &Words) -> Markup {
    html! {
        p.note { (words.label(label::surer())) " " span lang=[settle.lang] { (settle.text) (settle.stop()) } }
    }
}

fn evidence(items: &[EvidenceItem], words: &Words) -> Markup {
    let arithmetic = items.iter().any(|e| e.arithmetic.is_some());
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::evidence())) {
            table.evidence {
                thead { tr {
                    th scope="col" { (words.label(label::evidence())) }
                    th.number scope="col" { (words.label(label::evidence_value())) }
                    th scope="col" { (words.label(label::evidence_bound())) }
                    @if arithmetic { th scope="col" { (words.label(label::evidence_arithmetic())) } }
                } }
                tbody { @for e in items { (item(e, arithmetic, words)) } }
            }
        }
    }
}

fn item(e: &EvidenceItem, arithmetic: bool, words: &Words) -> Markup {
    let name = words.render(&e.name);
    let bound = e.bound.as_ref().map(|text| words.render(text));
    let how = e.arithmetic.as_ref().map(|text| words.render(text));
    html! {
        tr.decides[e.decides] {
            th scope="row" {
                span lang=[name.lang] { (name.text) }
                @if let Some(end) = e.end { (words.label(label::comma())) (words.side(end)) }
                @if e.decides { span.mark { (words.label(label::evidence_decides())) } }
            }
            td.number { (words.value(&e.value)) }
            (cell(bound, None))
            @if arithmetic { (cell(how, Some("small"))) }
        }
    }
}

fn cell(rendered: Option<Rendered>, class: Option<&str>) -> Markup {
    let lang = rendered.as_ref().and_then(|rendered| rendered.lang);
    html! { td class=[class] lang=[lang] { @if let Some(rendered) = rendered { (rendered.text) } } }
}
