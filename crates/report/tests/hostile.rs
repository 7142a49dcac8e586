//! Hostile documents: every free text in them contains an attack.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;

use model::{comparison::Comparison, findings::Findings, run::Run};
use proptest::prelude::*;
use serde_json::Value;

fn fixture(name: &str) -> Value {
    let file = format!("{}/../model/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// JSON pointers to all texts of a document.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(values) => {
            for (n, value) in values.iter().enumerate() {
                places(value, &format!("{at}/{n}"), found);
            }
        }
        Value::Object(values) => {
            for (name, value) in values {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// JSON pointers to the free texts of a document.
fn open_places<T>(document: &Value, read: Read<T>) -> Vec<String> {
    let mut all = Vec::new();
    places(document, "", &mut all);
    all.retain(|place| {
        let mut tried = document.clone();
        *tried.pointer_mut(place).unwrap() = Value::String("\u{1b}any text".to_owned());
        read(&serde_json::to_vec(&tried).unwrap()).is_some()
    });
    all
}

/// Reads a document like the program, upgrading older versions.
type Read<T> = fn(&[u8]) -> Option<T>;

/// A document of the fixtures with its free texts.
struct Target<T> {
    document: Value,
    places: Vec<String>,
    read: Read<T>,
}

impl<T> Target<T> {
    fn of(name: &str, read: Read<T>) -> Self {
        let document = fixture(name);
        let places = open_places(&document, read);
        assert!(places.len() > 3, "{name}: {places:?}");
        Self {
            document,
            places,
            read,
        }
    }

    /// The document with an attack in all of its free texts.
    fn armed(&self, weapon: &str) -> T {
        let mut document = self.document.clone();
        for place in &self.places {
            *document.pointer_mut(place).unwrap() = Value::String(weapon.to_owned());
        }
        (self.read)(&serde_json::to_vec(&document).unwrap()).unwrap()
    }
}

static RUN: LazyLock<Target<Run>> =
    LazyLock::new(|| Target::of("run-1.json", |text| Run::parse(text).ok()));
static FINDINGS: LazyLock<Target<Findings>> =
    LazyLock::new(|| Target::of("findings-1.json", |text| Findings::parse(text).ok()));
static COMPARISON: LazyLock<Target<Comparison>> = LazyLock::new(|| {
    Target::of("comparison-1.json", |text| {
        serde_json::from_slice(text).ok()
    })
});

fn weapon() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        ".{0,8}",
        Just("\u{1b}]0;title\u{7}\u{1b}[2J".to_owned()),
        Just("\u{9b}31m\u{90}q\u{9c}".to_owned()),
        Just("\nFORGED: 192.0.2.1 came".to_owned()),
        Just("\r\nFORGED".to_owned()),
        Just("`<img src=x onerror=alert(1)>`".to_owned()),
        Just("<script>alert(1)</script>".to_owned()),
        Just("|x|](javascript:x) \\".to_owned()),
        Just("\"/><x y='\" & \u{0} \u{fffe}".to_owned()),
        Just("\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}\u{7f}".to_owned()),
    ];
    let begins = prop_oneof![
        Just(""),
        Just("=1+1"),
        Just("+1"),
        Just("-1+1"),
        Just("@x"),
        Just("\t=1")
    ];
    (begins, proptest::collection::vec(parts, 1..5))
        .prop_map(|(b, parts)| format!("{b}{}", parts.concat()))
}

/// The characters of a text that would control a terminal or log.
fn acting(text: &str) -> Vec<char> {
    let acts = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().filter(acts).collect()
}

fn forms(weapon: &str) -> Vec<(&'static str, String)> {
    let run: Run = RUN.armed(weapon);
    let findings: Findings = FINDINGS.armed(weapon);
    let comparison: Comparison = COMPARISON.armed(weapon);
    vec![
        ("run", report::run::text(&run)),
        (
            "findings, the answer",
            report::answer::text(
                &run,
                &findings,
                explain::next(&run, &findings).as_ref(),
                report::answer::Screen::MIN,
                "more",
            ),
        ),
        ("facts", report::facts::text(&run.near.facts, Some(80))),
        ("findings", report::findings::text(&findings, true)),
        ("findings, short", report::findings::text(&findings, false)),
        (
            "comparison",
            report::comparison::text(&comparison, true, Some(80)),
        ),
        ("csv", report::csv::csv(&run)),
        ("markdown", report::markdown::markdown(&run, &findings)),
        (
            "markdown of a comparison",
            report::comparison::markdown(&comparison),
        ),
        ("xml", report::junit::junit(&run, &findings)),
        (
            "xml of a comparison",
            report::comparison::junit(&comparison),
        ),
        (
            "prometheus",
            report::prometheus::prometheus(&run, &findings),
        ),
    ]
}

/// Foreign HTML.
fn html(markdown: &str) -> Vec<String> {
    use pulldown_cmark::{Event, Options, Parser};
    let own = |text: &str| text.starts_with("<details>") || text.starts_with("</details>");
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
        .filter_map(|event| match event {
            Event::Html(text) | Event::InlineHtml(text) if !own(&text) => Some(text.to_string()),
            _ => None,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_form_of_any_document_lets_its_text_act(weapon in weapon()) {
        for (form, text) in forms(&weapon) {
            prop_assert_eq!(acting(&text), Vec::<char>::new(), "{}: {:?}", form, text);
            let forged = text.lines().find(|l| l.trim_start().starts_with("FORGED"));
            // Text is wrapped, so that any word may begin a line.
            if !form.starts_with("findings") {
                prop_assert_eq!(forged, None, "{}", form);
            }
            if form.starts_with("markdown") {
                prop_assert_eq!(html(&text), Vec::<String>::new(), "{}: {}", form, text);
            }
            if form.starts_with("xml") {
                let read = roxmltree::Document::parse(&text);
                prop_assert!(read.is_ok(), "{:?}: {}", read.err(), text);
            }
            if form == "csv" {
                let mut reader = csv::Reader::from_reader(text.as_bytes());
                for record in reader.records() {
                    for field in &record.unwrap() {
                        let formula = field.trim_start().starts_with(['=', '+', '-', '@']);
                        prop_assert!(!formula || field.parse::<f64>().is_ok(), "{:?}", field);
                    }
                }
            }
        }
    }
}
