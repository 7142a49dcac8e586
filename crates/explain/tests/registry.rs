//! The registry and its pages.

use std::{collections::BTreeSet, path::PathBuf};

use explain::{pages, registry};
use model::cause::CauseCode;

#[test]
fn each_known_code_has_one_cause() {
    let codes: Vec<&CauseCode> = registry().iter().map(|c| &c.code).collect();
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
    assert_eq!(
        codes.into_iter().collect::<BTreeSet<_>>(),
        CauseCode::KNOWN.iter().collect()
    );
    for cause in registry() {
        assert!(!cause.sources.is_empty(), "{}: no source", cause.code);
    }
}

#[test]
fn the_pages_are_current() {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/causes"));
    let mut files = vec![("README.md".to_owned(), pages::index(registry()))];
    for cause in registry() {
        files.push((format!("{}.md", cause.code), pages::page(cause)));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        for (name, text) in &files {
            std::fs::write(dir.join(name), text).unwrap();
        }
    }
    for (name, text) in &files {
        let written = std::fs::read_to_string(dir.join(name)).unwrap_or_default();
        assert!(
            written == *text,
            "docs/causes/{name} is old: run with UPDATE_DOCS=1"
        );
    }
    let there = std::fs::read_dir(&dir).unwrap().count();
    assert_eq!(there, files.len(), "docs/causes holds pages of no cause");
}

/// The rules read only a Run: no crate with the truth of a lab path is a dependency.
#[test]
fn the_truth_of_a_lab_is_out_of_reach() {
    let depends = |manifest: &str| -> BTreeSet<String> {
        let manifest: toml::Table = manifest.parse().unwrap();
        manifest["dependencies"]
            .as_table()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let set = |names: &[&str]| {
        names
            .iter()
            .map(ToString::to_string)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        depends(include_str!("../Cargo.toml")),
        set(&["analysis", "model", "serde", "stats"])
    );
    assert_eq!(
        depends(include_str!("../../analysis/Cargo.toml")),
        set(&["model", "stats"])
    );
}

#[test]
fn the_page_of_the_models_is_current() {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md"));
    let page = explain::published::page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == page,
        "docs/models.md is old: run with UPDATE_DOCS=1"
    );
}
