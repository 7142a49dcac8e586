//! `pathtwin report --format …` of a run that was measured on a lab path, as other programs read
//! it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use analysis::figures::value;
use common::{pathtwin, text};
use model::run::{FigureKind, Run, StepKind};

const PATH: &str = "[path]\nrate = \"5mbit\"\nrtt = \"40ms\"\nbuffer = \"25kB\"\n";

const PLAN: &str = r#"
name = "\"quoted\", with a comma"
repeats = { min = 2, max = 2 }
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["cubic"]
warmup_s = 1
duration_s = 3
repeat = true
"#;

/// A folder with a run in `run.json`.
fn measured() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let [spec, plan, run] = ["path.toml", "plan.toml", "run.json"].map(|n| folder.path().join(n));
    std::fs::write(&spec, PATH).unwrap();
    std::fs::write(&plan, PLAN).unwrap();
    let output = pathtwin()
        .args(["measure", "--lab"])
        .arg(&spec)
        .arg("--plan")
        .arg(&plan)
        .arg("--out")
        .arg(&run)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (folder, run)
}

fn form(run: &Path, format: &str) -> String {
    let output = pathtwin()
        .arg("report")
        .arg(run)
        .args(["--format", format])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{format}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[test]
fn a_measured_run_in_every_form() {
    let (folder, path) = measured();
    let run = Run::parse(&std::fs::read(&path).unwrap()).unwrap();
    let tcp: Vec<_> = run
        .samples
        .iter()
        .filter(|s| s.key.step == StepKind::Tcp)
        .collect();
    assert_eq!(tcp.len(), 2);

    let csv = form(&path, "csv");
    assert_eq!(csv.lines().count(), 1 + run.samples.len());
    assert!(csv.contains(",\"\"\"quoted\"\", with a comma\","), "{csv}");
    assert!(form(&path, "markdown").contains(&format!("### Run `{}`", run.id)));
    assert!(form(&path, "junit").contains("classname=\"underlay/v4 tcp down x1 cubic\""));
    let goodput = run.figure(&tcp[0].key, FigureKind::Goodput).unwrap();
    let gauges = form(&path, "prometheus");
    let gauge = gauges
        .lines()
        .find(|line| line.starts_with("pathtwin_goodput_bytes_per_second{"))
        .unwrap();
    assert!(
        gauge.ends_with(&format!(" {}", goodput.spread.median / 8.0)),
        "{gauge}"
    );

    let file = folder.path().join("run.flent.gz");
    let output = pathtwin()
        .arg("report")
        .arg(&path)
        .args(["--format", "flent", "--out"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let flent = Command::new("flent")
        .args(["-f", "stats", "-i"])
        .arg(&file)
        .env("HOME", folder.path())
        .output();
    let Ok(flent) = flent else {
        eprintln!("skipped: no flent here (scripts/setup test)");
        return;
    };
    let stats = text(&flent.stdout);
    let mean = |series: &str| -> f64 {
        let (_, part) = stats.split_once(&format!(" {series}:\n")).unwrap();
        let (_, mean) = part.split_once("Mean:").unwrap();
        mean.split_whitespace().next().unwrap().parse().unwrap()
    };
    let near = |got: f64, expected: f64| (got - expected).abs() < 2e-6 * expected + 1e-6;
    let goodput = mean("TCP download");
    let expected = tcp
        .iter()
        .map(|s| value(s, FigureKind::Goodput).unwrap() / 2e6)
        .sum();
    assert!(near(goodput, expected), "{goodput}, expected {expected}");
    // Every answered probe has the same weight.
    let probes = || tcp.iter().filter_map(|s| s.probes.as_ref());
    let all: f64 = probes().map(|p| p.n as f64).sum();
    let sum: f64 = probes()
        .map(|p| p.n as f64 * p.mean_us.unwrap() / 1e3)
        .sum();
    let ping = mean("Ping (ms) ICMP");
    assert!(near(ping, sum / all), "{ping}, expected {}", sum / all);
}

#[test]
fn a_missing_step_is_a_usage_error() {
    let run = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../model/tests/data/run-1.json"
    );
    for (arguments, message) in [
        (["--format", "flent", "--step", "x"], "no step \"x\""),
        (
            ["--format", "csv", "--step", "x"],
            "--step works only with --format flent",
        ),
    ] {
        let output = pathtwin()
            .args(["report", run])
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(message),
            "{}",
            text(&output.stderr)
        );
    }
}
