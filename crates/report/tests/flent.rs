#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]
//! Comparison with the values that flent itself reads from the file.

mod common;

use std::{collections::BTreeMap, process::Command};

use common::{WINDOW_US, goodput_bps, key, load, probes, run};
use model::{
    net::Direction,
    run::{Key, Run, Sample, StepKind},
};
use report::flent::{FlentError, flent, steps};

/// The means reported by flent, by series; `None` if flent is not installed.
fn means(run: &Run, step: &str) -> Option<BTreeMap<String, f64>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.flent.gz");
    std::fs::write(&file, flent(run, Some(step)).unwrap()).unwrap();
    let ask = |format: &str| {
        Command::new("flent")
            .args(["-f", format, "-i"])
            .arg(&file)
            .env("HOME", folder.path())
            .output()
    };
    let Ok(output) = ask("stats") else {
        eprintln!("skipped: no flent here (scripts/setup test)");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let mut series = String::new();
    let mut means = BTreeMap::new();
    for line in text.lines() {
        if let Some(mean) = line.trim().strip_prefix("Mean:") {
            let mean = mean.split_whitespace().next().unwrap();
            means.insert(series.clone(), mean.parse().unwrap());
        } else if let Some(name) = line.trim_end().strip_suffix(':') {
            series = name.trim().to_owned();
        }
    }
    for format in ["summary", "csv"] {
        let output = ask(format).unwrap();
        assert!(output.status.success(), "{format}: {errors}");
    }
    assert!(!means.is_empty(), "{text}{errors}");
    Some(means)
}

fn close(means: &BTreeMap<String, f64>, series: &str, expected: f64) {
    let got = means.get(series).copied();
    let near = got.is_some_and(|got| (got - expected).abs() < 2e-6 * expected);
    assert!(near, "{series}: {got:?}, expected {expected}; {means:?}");
}

fn tcp(direction: Direction, flows: u32) -> Key {
    key(StepKind::Tcp, Some(direction), Some(flows), "cubic")
}

#[test]
fn flent_states_the_means_of_the_run() {
    let run = run(vec![
        load(tcp(Direction::Down, 1), 0, &[1]),
        load(tcp(Direction::Down, 1), 30_000_000, &[3]),
        load(tcp(Direction::Up, 1), 60_000_000, &[7]),
    ]);
    let mean_ms = probes(WINDOW_US, 20).mean_us.unwrap() / 1e3;
    let Some(down) = means(&run, "underlay/v4 tcp down x1 cubic") else {
        return;
    };
    let both = (goodput_bps(1) + goodput_bps(3)) / 2e6;
    close(&down, "TCP download", both);
    close(&down, "Ping (ms) ICMP", mean_ms);
    let up = means(&run, "underlay/v4 tcp up x1 cubic").unwrap();
    close(&up, "TCP upload", goodput_bps(7) / 1e6);
}

/// Plots joined the end of one repeat to the beginning of the next by a line.
#[test]
fn between_repeats_there_is_a_gap() {
    let run = run(vec![
        load(tcp(Direction::Down, 1), 0, &[1]),
        load(tcp(Direction::Down, 1), 30_000_000, &[3]),
        load(tcp(Direction::Down, 1), 60_000_000, &[7]),
    ]);
    let file = flent(&run, None).unwrap();
    let document: serde_json::Value =
        serde_json::from_reader(flate2::read::GzDecoder::new(file.as_slice())).unwrap();
    let values = document["results"]["TCP download"].as_array().unwrap();
    let times = document["x_values"].as_array().unwrap();
    assert_eq!(times.len(), values.len());
    let gaps: Vec<f64> = times
        .iter()
        .zip(values)
        .filter(|(_, value)| value.is_null())
        .map(|(at, _)| at.as_f64().unwrap())
        .collect();
    // Each at the start of a measured time, which is 2 s after that of the load.
    assert_eq!(gaps, [32.0, 62.0]);
}

#[test]
fn flows_and_directions_at_once_have_their_names_in_flent() {
    let bidirectional = |direction| Key {
        bidirectional: true,
        ..tcp(direction, 2)
    };
    let run = run(vec![
        load(bidirectional(Direction::Down), 0, &[1, 2]),
        load(bidirectional(Direction::Up), 0, &[3, 4]),
        load(tcp(Direction::Up, 2), 30_000_000, &[5, 6]),
    ]);
    let Some(both) = means(&run, "underlay/v4 tcp bidirectional x2 cubic") else {
        return;
    };
    close(&both, "TCP download BE::2", goodput_bps(2) / 1e6);
    close(
        &both,
        "TCP download sum",
        (goodput_bps(1) + goodput_bps(2)) / 1e6,
    );
    close(
        &both,
        "TCP upload sum",
        (goodput_bps(3) + goodput_bps(4)) / 1e6,
    );
    let mean_ms = probes(WINDOW_US, 20).mean_us.unwrap() / 1e3;
    close(&both, "Ping (ms) UDP BE", mean_ms);
    let up = means(&run, "underlay/v4 tcp up x2 cubic").unwrap();
    close(&up, "TCP upload::1", goodput_bps(5) / 1e6);
    close(
        &up,
        "TCP upload sum",
        (goodput_bps(5) + goodput_bps(6)) / 1e6,
    );
}

#[test]
fn idle_latency_is_a_ping_test() {
    let mut sample = Sample::new(key(StepKind::Idle, None, None, ""), 1000);
    sample.probes = Some(probes([0, 8_200_000], 30));
    sample.load_at_us = Some(800_000);
    let run = run(vec![sample]);
    let Some(idle) = means(&run, "underlay/v4 idle") else {
        return;
    };
    let mean_ms = probes([0, 8_200_000], 30).mean_us.unwrap() / 1e3;
    close(&idle, "Ping (ms) UDP", mean_ms);
}

#[test]
fn what_there_is_not_is_said_and_what_does_not_count_is_left_out() {
    let mut bad = load(tcp(Direction::Down, 1), 0, &[1]);
    bad.valid = false;
    assert!(matches!(
        flent(&run(vec![bad.clone()]), None),
        Err(FlentError::Nothing)
    ));
    let run = run(vec![bad, load(tcp(Direction::Up, 1), 30_000_000, &[7])]);
    assert_eq!(steps(&run), ["underlay/v4 tcp up x1 cubic"]);
    let error = flent(&run, Some("tcp")).unwrap_err().to_string();
    assert!(
        error.ends_with("it has: underlay/v4 tcp up x1 cubic"),
        "{error}"
    );
}

#[test]
fn the_same_run_gives_the_same_file() {
    let run = run(vec![load(tcp(Direction::Down, 1), 0, &[1])]);
    assert_eq!(flent(&run, None).unwrap(), flent(&run, None).unwrap());
}
