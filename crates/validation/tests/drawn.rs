//! `docs/drawn.md` shows the results of the stored lines of drawn scenarios. `UPDATE_DOCS=1`
//! regenerates its tables.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{fmt::Write as _, path::PathBuf};

use common::{check_section, results, root};
use corpus::Point;
use validation::drawn::{CONFIDENCE, Drawn, Part, outcome::Outcome, score, table};

/// The stored draws, evaluations last.
fn draws() -> Vec<Vec<Outcome>> {
    let folder = std::fs::read_dir(root().join("corpus/judged")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut paths: Vec<PathBuf> = paths.filter(|p| name(p).starts_with("drawn-")).collect();
    paths.sort();
    let mut draws: Vec<Vec<Outcome>> = paths.iter().map(|path| results(path)).collect();
    draws.sort_by_key(|outcomes| outcomes[0].draw);
    draws
}

const BEGIN: &str = "<!-- results: made by UPDATE_DOCS=1 cargo test -p pathtwin-validation -->\n";
const END: &str = "<!-- end of results -->";

#[test]
fn the_page_shows_the_tables_of_the_kept_lines() {
    let mut tables = String::new();
    for outcomes in draws() {
        let first = &outcomes[0];
        let part = Part::of(first.draw).name();
        writeln!(
            tables,
            "\n### Draw {}, {} plan, {part}: {} scenarios\n",
            first.draw,
            first.plan,
            outcomes.len()
        )
        .unwrap();
        tables += &table::markdown(&score::score(&outcomes));
    }
    check_section("docs/drawn.md", [BEGIN, END], &format!("{tables}\n"));
}

/// The counts behind the confidence of findings are those of the draws of the calibration that are
/// judged by the rules of today.
#[test]
fn confidence_is_based_on_the_stored_lines_of_the_calibration() {
    let lines = draws().concat().into_iter();
    let calibration: Vec<Outcome> = lines
        .filter(|o| o.draw >= CONFIDENCE && Part::of(o.draw) == Part::Calibration)
        .collect();
    let heading = "//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 \
                   cargo test -p\n//! pathtwin-validation`.";
    let expected = corpus::table(heading, "DRAWN", &score::counts(&calibration));
    let file = root().join("crates/explain/src/calibration/drawn.rs");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &expected).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept == expected,
        "{}: run with UPDATE_DOCS=1",
        file.display()
    );
}

/// The diagram of docs/corpus.md for drawn paths, made from the lines of the latest evaluation.
#[test]
fn the_diagram_of_confidence_is_that_of_the_latest_evaluation() {
    let draws = draws();
    let is_evaluation = |draw: &&Vec<Outcome>| Part::of(draw[0].draw) == Part::Evaluation;
    let latest = draws.iter().rfind(is_evaluation).unwrap();
    let points: Vec<Point> = score::score(latest)
        .bins
        .iter()
        .map(|bin| Point {
            stated: bin.stated,
            right: bin.right.hits as u64,
            of: bin.right.of as u64,
        })
        .collect();
    let title = format!(
        "Findings on drawn paths, draw {}, {} plan",
        latest[0].draw, latest[0].plan
    );
    let diagram = corpus::reliability(&title, &points);
    let file = root().join("docs/images/confidence-drawn.svg");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &diagram).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == diagram,
        "{}: run with UPDATE_DOCS=1",
        file.display()
    );
    let page = std::fs::read_to_string(root().join("docs/corpus.md")).unwrap();
    assert!(page.contains("](images/confidence-drawn.svg)"));
}

/// A stored line belongs to the path that is drawn today: the priors were not changed since.
#[test]
fn the_kept_lines_are_of_the_paths_of_their_draw() {
    for outcome in draws().concat() {
        let drawn = Drawn::new(outcome.draw, outcome.index).unwrap();
        let rtt_ms = drawn.cell.path.rtt().as_secs_f64() * 1e3;
        assert_eq!((drawn.cell.name, rtt_ms), (outcome.name(), outcome.rtt_ms));
    }
}

/// Specs stored when paths were drawn as the text of a spec.
#[test]
fn a_spec_that_was_drawn_before_is_that_of_the_path_that_is_drawn_now() {
    let folder = root().join("crates/validation/tests/specs");
    let mut specs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut numbers = name.split('-').skip(1).map(|n| n.parse().unwrap());
        let drawn = Drawn::new(numbers.next().unwrap(), numbers.next().unwrap()).unwrap();
        let spec = std::fs::read_to_string(&path).unwrap();
        assert!(drawn.is_of(&spec), "{name} is now\n{}", drawn.spec());
        specs += 1;
    }
    assert!(specs >= 12, "{specs}");
}
