//! The composed part of the corpus, whole: it costs nothing. The lab's part is a program's work,
//! `pathtwin explain --corpus`, and its result is in `docs/corpus.md`; a small part of it runs with
//! the tests of `pathtwin`.

#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, path::PathBuf};

use explain::{
    compose,
    corpus::{File, Judged, Part, Scenario, What, score},
    judge, registry,
};

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
        if let What::Lab { spec, set } = &scenario.what {
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
    let codes: BTreeSet<&str> = registry().iter().map(|c| c.code).collect();
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

/// At least eight scenarios for each cause, at least forty in which nothing is wrong.
#[test]
fn the_corpus_is_large_enough() {
    let all = scenarios();
    for cause in registry() {
        let there = all
            .iter()
            .filter(|s| s.cause.iter().any(|c| c == cause.code));
        let least = if cause.code == "healthy" { 40 } else { 8 };
        // Only worth knowing, never a finding by itself: it is allowed for, and not asked for.
        if cause.code != "aqm-idle" {
            assert!(there.count() >= least, "{}", cause.code);
        }
    }
}

#[test]
fn the_composed_corpus_is_judged_right() {
    let judged = |part: Part| -> Vec<Judged> {
        let mut all = scenarios();
        all.retain(|s| s.is_in(part));
        let of = |scenario: Scenario| {
            let What::Composed(scene) = &scenario.what else {
                return None;
            };
            let findings = judge(&compose::run(scene, scenario.seed(part).0));
            Some(Judged { scenario, findings })
        };
        all.into_iter().filter_map(of).collect()
    };
    let score = score(&judged(Part::Evaluation));
    let right = score.top_right as f64 / score.scenarios as f64;
    assert!(right >= 0.95, "{right}: {:#?}", score.wrong);
    assert!(score.wrong_congestion_control.is_empty(), "{score:#?}");
    assert_eq!(score.false_alarms, 0, "{:#?}", score.wrong);
}
