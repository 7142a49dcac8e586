//! The rules of the workspace, applied to it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    let own = std::env::var_os("PATHTWIN_SOURCE").map(PathBuf::from);
    own.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

#[test]
fn no_modules_depend_on_each_other_in_a_circle() {
    let roots = house::roots(&workspace());
    assert!(roots.len() > 10, "{roots:?}");
    let mut text = Vec::new();
    for root in roots {
        match house::circles(&root) {
            Ok(circles) => text.extend(circles.iter().map(ToString::to_string)),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(
        text.is_empty(),
        "{} circles:\n{}",
        text.len(),
        text.join("\n")
    );
}

#[test]
fn crates_use_only_crates_above_them() {
    assert_eq!(house::breaches(&workspace()), Vec::<String>::new());
}

/// Only `tune` may change a host: crates that accept connections are built without it.
#[test]
fn network_services_cannot_change_a_host() {
    for listens in ["traffic", "iperf3", "measure", "web", "watch"] {
        let file = workspace().join("crates").join(listens).join("Cargo.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("[dependencies]"), "{}", file.display());
        assert!(!text.contains("tune"), "{listens} uses tune");
    }
    let serve = workspace().join("crates/pathtwin/src/commands");
    let all = [serve.join("serve.rs"), serve.join("serve/web.rs")];
    for file in all {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("tune"), "{}", file.display());
    }
}

#[test]
fn a_report_neither_judges_nor_computes_statistics() {
    assert_eq!(house::forbidden(&workspace()), Vec::<String>::new());
}

#[test]
fn files_are_in_the_usual_places() {
    let files = house::misplaced(&workspace());
    assert!(files.is_empty(), "{files:#?}");
    let attributes = house::path_attributes(&workspace());
    assert!(attributes.is_empty(), "{attributes:#?}");
}

#[test]
fn public_functions_that_can_fail_document_their_errors() {
    let found = house::unexplained_errors(&workspace()).unwrap();
    let places = found
        .iter()
        .map(|f| format!("{}:{} {}", f.file.display(), f.line, f.function));
    assert!(
        found.is_empty(),
        "{} functions without `# Errors`:\n{}",
        found.len(),
        places.collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    let lines = house::long_comments(&workspace());
    let places = lines.iter().map(|(f, l)| format!("{}:{l}", f.display()));
    assert!(
        lines.is_empty(),
        "{} lines:\n{}",
        lines.len(),
        places.collect::<Vec<_>>().join("\n")
    );
}
