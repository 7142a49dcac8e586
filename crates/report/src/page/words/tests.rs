use std::{collections::BTreeSet, path::Path};

use model::run::FigureKind;

use super::*;

/// The keys of a catalogue: what stands before ` =` at the start of a line.
fn keys(catalogue: &str) -> BTreeSet<&str> {
    let named = catalogue.lines().filter_map(|line| line.split_once(" ="));
    let starts = |key: &str| key.starts_with(|c: char| c.is_ascii_lowercase());
    named
        .map(|(key, _)| key)
        .filter(|key| starts(key))
        .collect()
}

/// The values that a catalogue's text of a key takes.
fn values(catalogue: &str, key: &str) -> BTreeSet<String> {
    let start = format!("{key} =");
    let text: Vec<&str> = catalogue
        .lines()
        .skip_while(|line| !line.starts_with(&start))
        .enumerate()
        .take_while(|(at, line)| *at == 0 || line.starts_with([' ', '*', '}']))
        .map(|(_, line)| line)
        .collect();
    let text = text.join(" ");
    let after = text.split('$').skip(1);
    after
        .map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric())
                .next()
                .unwrap_or_default()
        })
        .map(str::to_owned)
        .collect()
}

/// The program's text of the page, without its tests.
fn sources() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page");
    let mut text = include_str!("../../page.rs").to_owned();
    text.push_str(include_str!("told.rs"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}

#[test]
fn catalogues_can_be_read_whole() {
    for text in [ENGLISH, CHINESE] {
        let read = FluentResource::try_new(text.to_owned());
        assert!(read.is_ok(), "{:?}", read.err().map(|(_, errors)| errors));
    }
}

#[test]
fn both_languages_have_the_same_texts_with_the_same_values() {
    assert_eq!(keys(ENGLISH), keys(CHINESE));
    for key in keys(ENGLISH) {
        assert_eq!(values(ENGLISH, key), values(CHINESE, key), "{key}");
    }
}

#[test]
fn no_text_is_unused_and_none_is_missing() {
    let sources = sources();
    let quoted: BTreeSet<&str> = sources.split('"').collect();
    let figures: Vec<String> = FigureKind::ALL
        .iter()
        .map(|kind| format!("figure-{kind}"))
        .collect();
    for key in keys(ENGLISH) {
        let used = quoted.contains(key)
            || figures.iter().any(|f| f == key)
            // Names of facts come from the terminal's lines.
            || key.strip_prefix("fact-").is_some_and(|fact| {
                let name = format!("\"{}\"", fact.replace('-', " "));
                let inner = format!("\"  {}\"", fact.replace('-', " "));
                let lines = include_str!("../../facts.rs");
                lines.contains(&name) || lines.contains(&inner)
            });
        assert!(used, "{key} is used nowhere");
    }
    for figure in &figures {
        assert!(keys(ENGLISH).contains(figure.as_str()), "{figure}");
    }
    let said = sources.split("say(\"").skip(1);
    let filled = sources.split("fill(\"").skip(1);
    for after in said.chain(filled) {
        let key = after.split('"').next().unwrap_or_default();
        assert!(keys(ENGLISH).contains(key), "{key} is in no catalogue");
    }
}

#[test]
fn numbers_choose_the_plural() {
    let words = Words::new(Lang::English);
    let flows = |n: u32| words.fill("flows", &[("n", n.into())]);
    assert_eq!([flows(1), flows(8)], ["1 flow", "8 flows"]);
}
