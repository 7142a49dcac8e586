//! Checks all specs of `tests/specs`: good ones have the number of cells of their first line, bad
//! ones the errors of their first lines.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{fs, path::PathBuf};

use model::spec::Spec;

/// The specs of a folder: file name and text.
fn specs(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/specs")
        .join(folder);
    let mut specs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    specs.sort();
    specs
}

#[test]
fn good_specs_give_their_cells() {
    for (file, text) in specs("good") {
        let expected = text
            .lines()
            .next()
            .and_then(|l| l.strip_prefix("# cells: "));
        let expected: usize = expected.expect(&file).trim().parse().expect(&file);
        let cells = Spec::parse(&file, &text).and_then(|spec| spec.cells());
        assert_eq!(
            cells.unwrap_or_else(|e| panic!("{e}")).len(),
            expected,
            "{file}"
        );
    }
}

/// Mismatch of a bad spec's errors, if any.
fn mismatch(file: &str, text: &str) -> Option<String> {
    let cells = Spec::parse(file, text).and_then(|spec| spec.cells());
    let Err(error) = cells else {
        return Some(format!("{file}: no error"));
    };
    let error = error.to_string();
    let expected: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("# error: "))
        .collect();
    let fits = |line: &str, expected: &str| {
        let (number, fragment) = expected.split_once(": ").unwrap_or(("", expected));
        let head = match number {
            "-" => format!("{file}: "),
            number => format!("{file}:{number}: "),
        };
        line.starts_with(&head) && line.contains(fragment)
    };
    let same = error.lines().count() == expected.len()
        && error
            .lines()
            .zip(&expected)
            .all(|(line, expected)| fits(line, expected));
    (!same).then(|| format!("expected {}\ngot\n{error}\n", expected.join("\n")))
}

#[test]
fn bad_specs_say_line_key_and_reason() {
    let specs = specs("bad");
    assert!(specs.len() >= 40);
    let wrong: Vec<_> = specs
        .iter()
        .filter_map(|(file, text)| mismatch(file, text))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
