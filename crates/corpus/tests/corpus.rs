//! The corpus, its reviewed results in `corpus/judged/*.jsonl`, and their tables.
//!
//! The lab's part needs the program `pathtwin explain --corpus` and many minutes; the tests of
//! `pathtwin` judge a sample of it again. The composed part is cheap and is judged here completely.

#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, path::PathBuf};

use corpus::{File, Outcome, Part, Point, Scenario, Source, compose, markdown, reliability, score};
use explain::registry;

/// Command that regenerates the results.
const ANEW: &str =
    "pathtwin explain --corpus corpus --part PART --output jsonl > corpus/judged/PART.jsonl";

fn project(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

fn name(part: Part) -> &'static str {
    match part {
        Part::Training => "training",
        Part::Evaluation => "evaluation",
    }
}

/// The reviewed results of a part.
fn reviewed(part: Part) -> Vec<Outcome> {
    let file = project(&format!("corpus/judged/{}.jsonl", name(part)));
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Compares a file with its expected content, or writes it if `UPDATE_DOCS` is set.
fn current(path: &str, text: &str) {
    let file = project(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == text, "{path} is old: run with UPDATE_DOCS=1");
}

fn scenarios() -> Vec<Scenario> {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus"));
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") && !path.ends_with("plan.toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let file = File::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            all.extend(file.scenarios().unwrap());
        }
    }
    all
}

#[test]
fn every_scenario_of_the_lab_is_a_spec() {
    for scenario in scenarios() {
        if let Source::Lab { spec, set } = &scenario.source {
            let mut spec = model::spec::Spec::parse(&scenario.name, spec).unwrap();
            for (key, value) in set {
                spec.set(key, value)
                    .unwrap_or_else(|e| panic!("{}: {e}", scenario.name));
            }
            let cells = spec
                .cells()
                .unwrap_or_else(|e| panic!("{}: {e}", scenario.name));
            assert_eq!(cells.len(), 1, "{}", scenario.name);
        }
    }
}

#[test]
fn names_are_unique_and_causes_exist() {
    let codes: BTreeSet<&str> = registry().iter().map(|c| c.code.as_str()).collect();
    let mut names = BTreeSet::new();
    for scenario in scenarios() {
        for code in scenario.cause.iter().chain(&scenario.also) {
            assert!(codes.contains(code.as_str()), "{}: {code}", scenario.name);
        }
        assert!(!scenario.cause.is_empty(), "{}", scenario.name);
        assert!(
            names.insert(scenario.name.clone()),
            "{} twice",
            scenario.name
        );
    }
}

/// At least eight scenarios for each cause, and at least forty healthy ones.
#[test]
fn the_corpus_is_large_enough() {
    let all = scenarios();
    for cause in registry() {
        let there = all.iter().filter(|s| s.cause.contains(&cause.code));
        let least = if cause.code.as_str() == "healthy" {
            40
        } else {
            8
        };
        // Informational, never a finding by itself: it is allowed, not required. The two of
        // segments need a third point, which paths of the corpus do not have: their draw is
        // `pathtwin-validation`'s (`docs/segments.md`).
        if !["aqm-idle", "local-segment", "beyond"].contains(&cause.code.as_str()) {
            assert!(there.count() >= least, "{}", cause.code);
        }
    }
}

/// Runs of the lab are judged by `make corpus`; composed runs also here, where `UPDATE_DOCS`
/// updates their lines.
#[test]
fn the_composed_corpus_is_judged_as_reviewed() {
    for part in [Part::Training, Part::Evaluation] {
        let mut outcomes = reviewed(part);
        let all = scenarios();
        for outcome in &mut outcomes {
            let scenario = all.iter().find(|s| s.name == outcome.name).unwrap();
            if let Source::Composed(scene) = &scenario.source {
                let run = compose::run(scene, scenario.seed(part).0);
                *outcome = Outcome::of(scenario, part, &run);
            }
        }
        let lines = outcomes
            .iter()
            .map(|o| serde_json::to_string(o).unwrap() + "\n");
        let lines: String = lines.collect();
        current(&format!("corpus/judged/{}.jsonl", name(part)), &lines);
    }
}

/// Every line is a scenario of the corpus with its seed and truth, and no composed one is missing.
/// The page states how many of the lab's scenarios were run.
#[test]
fn the_reviewed_results_are_of_this_corpus() {
    let all = scenarios();
    for part in [Part::Training, Part::Evaluation] {
        let there = reviewed(part);
        let truth = |s: &Scenario| (s.seed(part).0, s.cause.clone(), s.also.clone());
        for outcome in &there {
            let scenario = all.iter().find(|s| s.name == outcome.name).unwrap();
            let line = (outcome.seed, outcome.cause.clone(), outcome.also.clone());
            assert!(scenario.is_in(part), "{}: {ANEW}", outcome.name);
            assert_eq!(line, truth(scenario), "{}: {ANEW}", outcome.name);
        }
        let names: BTreeSet<&str> = there.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names.len(), there.len());
        let composed = all
            .iter()
            .filter(|s| matches!(s.source, Source::Composed(_)));
        for scenario in composed.filter(|s| s.is_in(part)) {
            assert!(names.contains(scenario.name.as_str()), "{}", scenario.name);
        }
    }
}

/// Coverage of a part, as a sentence.
fn coverage(part: Part) -> String {
    let all = scenarios();
    let lab = all
        .iter()
        .filter(|s| s.is_in(part) && matches!(s.source, Source::Lab { .. }));
    let there = reviewed(part);
    let run = there.iter().filter(|o| !o.composed).count();
    format!(
        "Run: {run} of the lab's {} scenarios of this part, and all {} composed ones.\n",
        lab.count(),
        there.len() - run
    )
}

/// Bounds of the rules on seeds and scenarios that were not used for making them.
#[test]
fn the_evaluation_keeps_its_bounds() {
    let score = score(&reviewed(Part::Evaluation));
    let share = |part: usize, of: usize| part as f64 / of as f64;
    assert!(
        share(score.top_right, score.scenarios) >= 0.95,
        "{:#?}",
        score.wrong
    );
    assert!(share(score.false_alarms, score.healthy) <= 0.02);
    assert!(share(score.pairs_named, score.pairs) >= 0.8);
    assert!(score.wrong_congestion_control.is_empty(), "{score:#?}");
}

/// Confidence matches the share of correct findings: the exact 95 % interval of that share contains
/// the mean confidence, or the share is higher.
#[test]
fn confidence_is_not_overstated() {
    for bin in score(&reviewed(Part::Evaluation)).calibration {
        let right = stats::clopper_pearson(bin.right, bin.findings).unwrap();
        assert!(right.high >= bin.message, "{bin:?}");
    }
}

/// The diagram of the page, made from the lines of the evaluation.
#[test]
fn the_diagram_of_confidence_is_that_of_the_reviewed_results() {
    let bins = score(&reviewed(Part::Evaluation)).calibration;
    let points: Vec<Point> = bins
        .iter()
        .map(|bin| Point {
            stated: bin.message,
            right: bin.right,
            of: bin.findings,
        })
        .collect();
    assert!(points.len() > 1, "{bins:?}");
    let diagram = reliability("Findings on the corpus, evaluation", &points);
    current("docs/images/confidence-corpus.svg", &diagram);
    let page = std::fs::read_to_string(project("docs/corpus.md")).unwrap();
    assert!(page.contains("](images/confidence-corpus.svg)"));
}

#[test]
fn the_counts_behind_confidence_are_those_of_training() {
    let counts = corpus::source(&reviewed(Part::Training));
    current("crates/explain/src/calibration/counts.rs", &counts);
}

/// The generated tables of the page.
#[test]
fn the_page_of_the_corpus_is_current() {
    let mut page = std::fs::read_to_string(project("docs/corpus.md")).unwrap();
    for part in [Part::Training, Part::Evaluation] {
        let begin = format!("<!-- {}: made by UPDATE_DOCS=1 -->\n", name(part));
        let end = format!("<!-- end of {} -->\n", name(part));
        let from = page.find(&begin).unwrap() + begin.len();
        let to = page.find(&end).unwrap();
        let tables = markdown(&score(&reviewed(part)));
        let tables = format!("\n{}\n{tables}", coverage(part));
        page.replace_range(from..to, &tables);
    }
    current("docs/corpus.md", &page);
}
