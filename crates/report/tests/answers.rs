//! The answers to the recorded Runs of `explain`, on a terminal of the smallest supported size.

#![allow(clippy::expect_used)]

use std::path::{Path, PathBuf};

use model::{
    findings::{Findings, Next},
    plan::Preset,
    run::{Asked, Run},
};
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

/// Bug: after a measurement of another port, of iperf3 or of a server without a key, the printed
/// command measured nothing: it had the address alone.
#[test]
fn the_command_to_measure_again_names_the_far_end_as_it_was_named() {
    let mut run = kept("tailscale-idle-then-relayed.json.zst");
    let next = Next::Measure {
        settle: model::text!("longer loads"),
        decides: 2,
        longer: Some(Preset::Default),
    };
    let answer = |run: &Run| {
        let text = text(run, &explain::judge(run), Some(&next), Screen::MIN, "");
        let command = text.split_once("  pathtwin measure").expect("a command").1;
        // A shell takes a line that ends with a backslash as continued.
        let words: Vec<&str> = command.split_whitespace().filter(|w| *w != "\\").collect();
        words.join(" ")
    };
    let by_address = answer(&run);
    assert!(by_address.contains(" --via "), "{by_address}");
    for (host, port, open, command) in [
        (
            "host.example:5302",
            None,
            false,
            "host.example:5302 --via 100.64.0.7",
        ),
        (
            "host.example",
            Some(5302),
            true,
            "host.example --port 5302 --via 100.64.0.7 --open",
        ),
        (
            "iperf3://host.example:5202",
            None,
            false,
            "iperf3://host.example:5202 --via 100.64.0.7",
        ),
    ] {
        run.asked = Some(Asked {
            host: host.to_owned(),
            port,
            via: vec!["100.64.0.7".parse().expect("an address")],
            open,
        });
        assert_eq!(answer(&run), command);
    }
}
