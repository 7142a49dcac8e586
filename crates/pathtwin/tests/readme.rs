//! The table in the README equals the output of its spec.

#![allow(clippy::expect_used)]

mod common;
mod near;

use common::{pathtwin, spec, text};
use near::is_near;

/// How near numbers of another kernel image are.
const NEAR: f64 = 0.05;

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
    shown(&text(&output.stdout), &image());
}

/// The beginning of the hash of this host's kernel image.
fn image() -> String {
    let output = pathtwin().args(["lab", "kernel", "info"]).output();
    let info = text(&output.expect("run pathtwin").stdout);
    let hash = info.lines().find_map(|line| line.strip_prefix("sha256"));
    hash.expect("a hash").trim().chars().take(12).collect()
}

/// The block of the README equals the output of the program, or is near to it on a host with
/// another kernel image; with `UPDATE_DOCS` it is written there.
fn shown(printed: &str, image: &str) {
    const MARK: &str = "<!-- table of kernel image ";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(file).expect("the README");
    let start = readme.find(MARK).expect("the mark") + MARK.len();
    let open = start + readme[start..].find("```text\n").expect("a block") + "```text\n".len();
    let close = open + readme[open..].find("```").expect("its end");
    let kept = readme[start..].split(':').next().expect("its image");
    let printed: String = printed
        .trim_end()
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let after = &readme[start + kept.len()..open];
        let text = format!(
            "{}{image}{after}{printed}{}",
            &readme[..start],
            &readme[close..]
        );
        return std::fs::write(file, text).expect("write the README");
    }
    let of_readme = &readme[open..close];
    if kept == image {
        assert_eq!(of_readme, printed, "UPDATE_DOCS=1 renews it");
    } else {
        eprintln!("this host's kernel image is {image}, the table is of {kept}");
        assert!(is_near(of_readme, &printed, NEAR), "{of_readme}{printed}");
    }
}
