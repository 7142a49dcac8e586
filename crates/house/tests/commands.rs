//! Commands in documents: the files that they read exist, or an earlier command makes them.

#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Programs whose commands are read.
const PROGRAMS: [&str; 8] = [
    "pathtwin", "cargo", "make", "jq", "python3", "sh", "bash", "ssh",
];
/// Options whose value is a file that the command writes.
const WRITES: [&str; 5] = ["--out", "--graph", "-o", ">", ">>"];
/// Ends of the names of files without a folder.
const ENDS: [&str; 6] = [".toml", ".json", ".jsonl", ".csv", ".html", ".xml"];
/// Folders that commands make.
const MADE: [&str; 2] = ["out", "target"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("read a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let all = paths.flat_map(|path| match path.is_dir() {
        true => pages(&path),
        false => vec![path],
    });
    all.filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect()
}

/// A folder of the checkout that commands name files of.
fn is_top(name: &str) -> bool {
    let is_own = !name.is_empty() && !name.starts_with('.') && !MADE.contains(&name);
    is_own && root().join(name).is_dir()
}

/// The words of a command, if a line in a block is one.
fn command(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line
        .split_whitespace()
        .skip_while(|word| matches!(*word, "$" | "sudo"))
        .map(|word| word.trim_matches(['"', '\'', '(', ')', ',', ';']))
        .collect();
    let first = words.first()?;
    let name = first.rsplit('/').next()?;
    let is_script = first.starts_with("scripts/") || first.starts_with("bench/");
    (PROGRAMS.contains(&name) || is_script).then_some(words)
}

/// Placeholders, patterns and addresses are no names of files.
fn is_name(word: &str) -> bool {
    let other = |c: char| c.is_ascii_uppercase() || "<>$*{}[]:@~".contains(c);
    !word.is_empty() && !word.contains(other)
}

/// Files that the commands of a page name, and that neither exist nor were made or named before.
/// On a page that is read in order (`in_order`), files without a folder are among them.
fn missing(text: &str, in_order: bool) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut missing = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let block = in_block || line.starts_with("    ");
        let Some(words) = command(line).filter(|_| block) else {
            let quoted = line.split('`').skip(1).step_by(2);
            let words = quoted.flat_map(str::split_whitespace);
            known.extend(words.map(str::to_owned));
            continue;
        };
        let mut before = "";
        for word in words {
            let value = word.split_once('=').filter(|_| word.starts_with("--"));
            let (option, name) = value.unwrap_or((before, word));
            before = word;
            if !is_name(name) {
                continue;
            }
            if WRITES.contains(&option) {
                known.insert(name.to_owned());
                continue;
            }
            let is_read = match name.split_once('/') {
                Some((top, _)) => is_top(top),
                None => in_order && ENDS.iter().any(|end| name.ends_with(end)),
            };
            if is_read && !known.contains(name) && !root().join(name).exists() {
                missing.push(format!("{name} in: {}", line.trim()));
            }
        }
    }
    missing
}

/// The README named specs that had been renamed, and files that no command had made.
#[test]
fn commands_name_files_that_exist_or_that_an_earlier_command_made() {
    let guides = root().join("docs/guides");
    let mut all = pages(&root().join("docs"));
    all.extend(["README.md", "CONTRIBUTING.md", "packaging/README.md"].map(|p| root().join(p)));
    let mut faults = Vec::new();
    for page in all {
        let text = fs::read_to_string(&page).expect("read a page");
        // Pages of reference show a command with any run.
        let in_order = page.starts_with(&guides) || page.ends_with("README.md");
        let missing = missing(&text, in_order).into_iter();
        faults.extend(missing.map(|fault| format!("{}: {fault}", page.display())));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_file_is_known_after_the_command_or_the_sentence_that_makes_it() {
    let run = "    pathtwin explain run.json\n";
    assert_eq!(missing(run, true).len(), 1);
    assert!(missing(run, false).is_empty());
    for before in [
        "    pathtwin measure far.example --out run.json\n",
        "    pathtwin measure far.example --output json > run.json\n",
        "    pathtwin measure far.example --out=run.json\n",
        "The run, saved as `run.json`:\n",
    ] {
        assert!(
            missing(&format!("{before}{run}"), true).is_empty(),
            "{before}"
        );
    }
    let spec = "```sh\ntarget/release/pathtwin lab run cases/no-such-spec.toml\n```\n";
    assert_eq!(missing(spec, false).len(), 1);
    assert!(missing("```sh\nscripts/fresh\n```\n", false).is_empty());
}
