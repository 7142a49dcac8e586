//! The table in the README equals the output of its spec.

#![allow(clippy::expect_used)]

mod common;

use common::{pathtwin, spec, text};

#[test]
fn the_table_of_the_readme_is_what_its_spec_prints() {
    let readme = include_str!("../../../README.md");
    let toml = readme.split("```toml\n").nth(1).expect("a spec");
    let toml = toml.split("```").next().expect("its end");
    let (_folder, path) = spec(toml);
    let output = pathtwin()
        .args(["lab", "run"])
        .arg(&path)
        .env("COLUMNS", "100")
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    shown("table", &text(&output.stdout));
}

/// The block below a mark in the README equals the output of the program; with `UPDATE_DOCS` it is
/// written there.
fn shown(mark: &str, printed: &str) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(file).expect("the README");
    let mark = format!("<!-- {mark}");
    let start = readme.find(&mark).expect("the mark");
    let open = start + readme[start..].find("```text\n").expect("a block") + "```text\n".len();
    let close = open + readme[open..].find("```").expect("its end");
    let printed: String = printed
        .trim_end()
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{}{printed}{}", &readme[..open], &readme[close..]);
        return std::fs::write(file, text).expect("write the README");
    }
    assert_eq!(&readme[open..close], printed, "UPDATE_DOCS=1 renews it");
}
