//! The answers to the recorded Runs of `explain`, on a terminal of the smallest supported size.

#![allow(clippy::expect_used)]

use std::path::{Path, PathBuf};

use model::{findings::Findings, run::Run};
use report::answer::{Screen, text};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../explain/tests/runs")
}

fn kept(name: &str) -> Run {
    let packed = std::fs::read(folder().join(name)).expect("read a run");
    Run::parse(&zstd::decode_all(packed.as_slice()).expect("unpack it")).expect("a run")
}

fn answered(run: &Run) -> (Findings, String) {
    let findings = explain::judge(run);
    let next = explain::next(run, &findings);
    let more = "All figures and the evidence: pathtwin report ID --out report.html, pathtwin explain ID --all";
    let answer = text(run, &findings, next.as_ref(), Screen::MIN, more);
    (findings, answer)
}

/// Bugs: on loopback the answer had no next step; below a long one, the second finding, a full
/// queue in the other direction, was left out.
#[test]
fn every_answer_fits_80_x_24_and_has_a_next_step_and_the_other_findings() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).expect("read the folder") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_str().expect("a name");
        let (findings, answer) = answered(&kept(name));
        let lines: Vec<&str> = answer.lines().collect();
        assert!(
            lines.len() <= 22,
            "{name}: {} lines:\n{answer}",
            lines.len()
        );
        for line in &lines {
            assert!(line.chars().count() <= 80, "{name}: {line:?}\n{answer}");
        }
        let next = lines.iter().any(|line| line.starts_with("Next"));
        assert!(next || findings.is_healthy(), "{name}:\n{answer}");
        let also = lines.iter().any(|line| line.starts_with("Also: "));
        assert_eq!(
            also,
            findings.others().next().is_some(),
            "{name}:\n{answer}"
        );
        count += 1;
    }
    assert!(count > 30, "{count}");
}

/// Bug: on a terminal, a run that ended before its plan looked complete.
#[test]
fn a_run_that_was_cut_short_says_so_first() {
    let mut run = kept("ok-sat.json.zst");
    run.cut_short = Some(model::text!("the time budget is used up"));
    let (_, answer) = answered(&run);
    assert!(
        answer.starts_with("CUT SHORT: the time budget is used up\n"),
        "{answer}"
    );
}

/// A run over loopback as an ordinary user, with a busy processor in each load of TCP: "nothing is
/// wrong, 97 %, TCP reaches the path's capacity", and "6265 of 6265 Mbit/s" from samples that are
/// all invalid.
#[test]
fn one_host_with_saturated_processors_has_no_path_capacity() {
    let (findings, answer) = answered(&kept("one-host-at-full-processors.json.zst"));
    assert!(findings.problems().next().is_none(), "{findings:#?}");
    assert!(!findings.is_healthy(), "{findings:#?}");
    for line in [
        "cubic, which only root may use",
        "TOO FEW SAMPLES COUNT: 4 of 10",
        "does not count",
    ] {
        assert!(answer.contains(line), "{line}\n{answer}");
    }
    assert!(
        !answer.contains(" of 6265") && !answer.contains("[##"),
        "{answer}"
    );
    assert!(
        answer.contains("Next: the same plan between two hosts"),
        "{answer}"
    );
    assert!(answer.contains("pathtwin serve"), "{answer}");
}
