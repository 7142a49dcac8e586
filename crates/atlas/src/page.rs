//! The search page: all cells in one file that works offline.

mod data;

use maud::{Markup, html};
use report::page::Alone;

use crate::{
    cell::{Cell, Factor},
    compare::Rule,
    finding::Found,
    number::level,
    source::Source,
};

pub use data::{Data, data};

/// Name of its file.
pub const FILE: &str = "index.html";

const STYLE: &str = include_str!("page/atlas.css");
const SCRIPT: &str = include_str!("page/atlas.js");

/// Sections: anchor, name.
const SECTIONS: [(&str, &str); 5] = [
    ("path", "Your path"),
    ("cells", "All cells"),
    ("map", "Map"),
    ("findings", "Findings"),
    ("source", "Source"),
];

/// The page.
pub fn html(cells: &[Cell], source: &Source, found: &[Found]) -> String {
    let data = data(cells);
    let body = html! {
        h1 { "Atlas of TCP over common paths" }
        p.description {
            "What " (cells.len()) " combinations of congestion control, queue, rate, round trip, loss, \
             tunnel and flows do in the lab: the Linux kernel in virtual time, one seed each."
        }
        @if source.sample { p.warning { "This is a sample, not the whole sweep." } }
        noscript { p.warning {
            "Search and map need JavaScript. The findings below do not, and the table is "
            a href=(crate::table::FILE) { (crate::table::FILE) } "."
        } }
        section id="path" aria-labelledby="path-title" { h2 id="path-title" { "Your path" } (path(&data)) }
        section id="cells" aria-labelledby="cells-title" { h2 id="cells-title" { "All cells" } (search(&data)) }
        section id="map" aria-labelledby="map-title" { h2 id="map-title" { "Map" } (map(&data)) }
        section id="findings" aria-labelledby="findings-title" {
            h2 id="findings-title" { "Findings" }
            @for (number, one) in found.iter().enumerate() { (finding(number + 1, one)) }
        }
        section id="source" aria-labelledby="source-title" { h2 id="source-title" { "Source" } (origin(source)) }
    };
    let page = Alone {
        title: "Atlas · pathtwin",
        style: STYLE,
        script: SCRIPT,
        data: &data,
        sections: &SECTIONS,
        body: &body,
        program: env!("CARGO_PKG_VERSION"),
    };
    page.html()
}

/// The part of an address that shows the cells of a rule.
pub fn address(rule: &Rule) -> String {
    let escaped = |text: &str| text.replace('%', "%25").replace(' ', "%20");
    let mut parts: Vec<String> = Vec::new();
    if let Some((factor, over, under)) = rule.ratio {
        parts.push(format!(
            "{}={},{}",
            factor.name(),
            escaped(over),
            escaped(under)
        ));
    }
    let compared = rule.ratio.map(|(factor, ..)| factor);
    for (factor, levels) in rule.only {
        if Some(*factor) != compared {
            let levels: Vec<String> = levels.iter().map(|l| escaped(l)).collect();
            parts.push(format!("{}={}", factor.name(), levels.join(",")));
        }
    }
    parts.join("&")
}

/// The form for a path, and its answer.
fn path(data: &Data) -> Markup {
    let number = |id: &str, name: &str, value: &str, step: &str| {
        html! { label { (name) input id=(id) type="number" min="0" step=(step) value=(value) inputmode="decimal"; } }
    };
    html! {
        p.note {
            "The nearest cells are looked up; nothing is computed between them. Only settings of the sender and of the \
             queue at the bottleneck are compared."
        }
        form id="ask" {
            (number("ask-rate", "Rate, Mbit/s", "100", "any"))
            (number("ask-rtt", "RTT of the idle path, ms", "50", "any"))
            (number("ask-loss", "Random loss, %", "0.1", "any"))
            (choice(data, Factor::Tunnel, "ask-tunnel", "Tunnel"))
            (choice(data, Factor::Flows, "ask-flows", "Flows"))
            (choice(data, Factor::Cc, "ask-cc", "Congestion control now"))
            (choice(data, Factor::Queue, "ask-queue", "Queue now"))
            label { "Best for" select id="ask-goal" {
                option value="balanced" { "both: goodput over loaded RTT" }
                option value="goodput" { "goodput" }
                option value="delay" { "loaded RTT, with half the best goodput" }
            } }
        }
        div id="answer" role="status" {}
        div.wide tabindex="0" role="group" aria-label="Settings for this path" { table id="settings" {} }
    }
}

fn choice(data: &Data, factor: Factor, id: &str, name: &str) -> Markup {
    html! { label { (name) select id=(id) {
        @for text in data.levels(factor) {
            option value=(text) selected[text == "fifo 40ms"] { (level(text)) }
        }
    } } }
}

/// Filters, and the table.
fn search(data: &Data) -> Markup {
    html! {
        div id="filters" {
            @for factor in Factor::ALL {
                fieldset data-factor=(factor.name()) {
                    legend { (factor.words()) }
                    @for text in data.levels(factor) {
                        label { input type="checkbox" value=(text); (level(text)) }
                    }
                }
            }
        }
        div.controls {
            output id="count" {}
            div.buttons { button id="clear" type="button" { "Clear filters" } }
        }
        div.wide tabindex="0" role="group" aria-label="Cells" { table id="table" {} }
        p { button id="more" type="button" { "Show more" } }
        div id="command" role="status" {}
    }
}

/// Selects for a heat map of the cells that the filters show.
fn map(data: &Data) -> Markup {
    let factors = |id: &str, name: &str, chosen: Factor| {
        html! { label { (name) select id=(id) {
            @for factor in Factor::ALL {
                option value=(factor.name()) selected[factor == chosen] { (factor.words()) }
            }
        } } }
    };
    html! {
        p.note { "Medians over the cells that the filters above leave." }
        form id="axes" {
            label { "Figure" select id="map-figure" {
                @for figure in &data.figures { option value=(figure.name) { (figure.words) } }
            } }
            (factors("map-down", "Lines", Factor::Queue))
            (factors("map-across", "Columns", Factor::Rtt))
        }
        div.wide tabindex="0" role="group" aria-label="Map" { table.heat id="heat" {} }
    }
}

fn finding(number: usize, one: &Found) -> Markup {
    let finding = one.finding;
    let rule = finding.rule;
    html! {
        article id={ "finding-" (finding.id) } {
            h3 { (number) ". " (finding.claim) }
            p { (finding.text) }
            p.note {
                (rule.words()) ". " "Shown if " (finding.shown_if) ": "
                @if one.holds() { "it holds. " } @else { strong { "it does not hold. " } }
                a href={ "#" (address(&rule)) } { "Its cells" }
            }
            div.wide tabindex="0" role="group" aria-label=(finding.claim) { table.figures {
                thead { tr {
                    @for factor in rule.by { th scope="col" { (factor.words()) } }
                    th.number scope="col" { "n" }
                    th.number scope="col" { "median" }
                    th.number scope="col" { "lowest to highest" }
                } }
                tbody { @for group in &one.groups { tr {
                    @for text in &group.levels { th scope="row" { (level(text)) } }
                    td.number { (group.n) }
                    td.number { (rule.print(group.median)) }
                    td.number { (rule.print(group.low)) " to " (rule.print(group.high)) }
                } } }
            } }
        }
    }
}

fn origin(source: &Source) -> Markup {
    html! {
        p { "Kernel " (source.kernel) ". Same specs, kernel image and guest program: same rows, byte for byte. How to \
             run them again is in docs/atlas/README.md." }
        ul.digests {
            li { "SHA-256 of the kernel image: " code { (source.image) } }
            li { "BLAKE3 of the guest program: " code { (source.guest) } }
            li { "BLAKE3 of all rows: " code { (source.rows) } }
            li { "BLAKE3 of " (crate::table::FILE) ": " code { (source.table) } }
        }
    }
}
