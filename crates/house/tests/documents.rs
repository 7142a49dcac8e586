//! Documents: every page is in the list, and every link leads to a file.

#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("read a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => pages(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect()
}

/// The files that a page links to, without the place in them. Links of other kinds are left out.
fn links(page: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(page).expect("read a page");
    let folder = page.parent().expect("a folder");
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains(':') && !target.contains(' '))
        .map(|target| folder.join(target))
        .collect()
}

#[test]
fn every_page_is_listed_or_one_of_a_listed_folder() {
    let list = root().join("docs/README.md");
    let real = |path: &PathBuf| path.canonicalize().ok();
    let mut listed: Vec<PathBuf> = links(&list).iter().filter_map(real).collect();
    // The causes have a separate list.
    listed.extend(
        links(&root().join("docs/causes/README.md"))
            .iter()
            .filter_map(real),
    );
    for page in pages(&root().join("docs")) {
        let page = page.canonicalize().expect("it exists");
        let is_list = page == list.canonicalize().expect("it exists");
        assert!(
            is_list || listed.contains(&page),
            "{} is in no list",
            page.display()
        );
    }
}

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    let top = [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
    ];
    let top = top.map(|name| root().join(name));
    for page in pages(&root().join("docs")).into_iter().chain(top) {
        for target in links(&page) {
            assert!(target.exists(), "{}: {}", page.display(), target.display());
        }
    }
}

/// The sources of a folder below each other, as one text.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("read a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| match path.is_dir() {
            true => sources(&path),
            false => fs::read_to_string(&path).unwrap_or_default(),
        })
        .collect()
}

/// Returns true if a source defines a name: an item, a field or a variant.
fn defines(source: &str, name: &str) -> bool {
    source.lines().any(|line| {
        let line = line.trim_start();
        let words: Vec<&str> = line
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let is_item = words.windows(2).any(|pair| {
            let items = ["fn", "struct", "enum", "trait", "type", "mod", "const"];
            items.contains(&pair[0]) && pair[1] == name
        });
        let after = line.trim_start_matches("pub ").strip_prefix(name);
        let is_member = after.is_some_and(|rest| rest.starts_with([':', ',', ' ', '(']));
        is_item || is_member && !line.starts_with("//")
    })
}

/// The walks named functions that had been renamed.
#[test]
fn names_in_the_architecture_exist() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("read the page");
    let quoted = page.split('`').skip(1).step_by(2);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let names: Vec<&str> = quoted
        .filter(|name| name.contains("::") && name.chars().all(is_name))
        .collect();
    assert!(names.len() > 40, "{names:?}");
    let crates = root().join("crates");
    for name in names {
        let mut parts: Vec<&str> = name.split("::").collect();
        let own = crates.join(parts[0]).join("src");
        let source = match own.exists() {
            true => sources(&own),
            false => sources(&crates),
        };
        parts.drain(..usize::from(own.exists()));
        for part in parts {
            assert!(defines(&source, part), "{name}: there is no {part}");
        }
    }
}
