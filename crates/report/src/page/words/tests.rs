use std::{collections::BTreeSet, path::Path};

use super::*;

/// The names of the texts.
fn keys() -> BTreeSet<&'static str> {
    let names: BTreeSet<&str> = texts::all().map(|(id, _)| *id).collect();
    assert_eq!(names.len(), texts::all().count(), "duplicate name");
    names
}

/// The sources of the page, without tests.
fn sources() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page");
    let mut text = include_str!("../../page.rs").to_owned();
    let below = folder.join("dashboard");
    let entries = [folder, below].map(|folder| std::fs::read_dir(folder).unwrap());
    for entry in entries.into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}

#[test]
fn no_text_is_unused_and_none_is_missing() {
    let sources = sources();
    let quoted: BTreeSet<&str> = sources.split('"').collect();
    for key in keys() {
        let used = quoted.contains(key.strip_suffix("-one").unwrap_or(key));
        assert!(used, "{key} is used nowhere");
    }
    let message = sources.split("label(\"").skip(1);
    let filled = sources.split("fill(\"").skip(1);
    for after in message.chain(filled) {
        let key = after.split('"').next().unwrap_or_default();
        assert!(keys().contains(key), "{key} is in no catalogue");
    }
}

#[test]
fn numbers_choose_the_plural() {
    let words = Words::new(Lang::English);
    let flows = |n: u32| words.fill("flows", &[("n", n.into())]);
    assert_eq!([flows(1), flows(8)], ["1 flow", "8 flows"]);
}
