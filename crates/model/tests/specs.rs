//! Runs all specs of `tests/specs`: the good ones give the number of cells of their first line,
//! the bad ones the errors of their first lines.

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

#[test]
fn bad_specs_say_line_key_and_reason() {
    let specs = specs("bad");
    assert!(specs.len() >= 40);
    for (file, text) in specs {
        let error = Spec::parse(&file, &text).and_then(|spec| spec.cells());
        let error = error.map(|_| ()).expect_err(&file).to_string();
        let expected: Vec<&str> = text
            .lines()
            .map_while(|line| line.strip_prefix("# error: "))
            .collect();
        assert!(!expected.is_empty(), "{file}: the first line says no error");
        assert_eq!(error.lines().count(), expected.len(), "{file}:\n{error}");
        for (line, expected) in error.lines().zip(expected) {
            let (number, fragment) = expected.split_once(": ").expect(&file);
            let head = match number {
                "-" => format!("{file}: "),
                number => format!("{file}:{number}: "),
            };
            let fits = line.starts_with(&head) && line.contains(fragment);
            assert!(fits, "{file}: expected {number}: {fragment}\n{error}");
        }
    }
}
