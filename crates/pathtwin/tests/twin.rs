//! `pathtwin twin`: its output and exit codes, and with the real lab one path that it recovers and
//! one that only iperf3 measured. The search itself is tested in `twin`, its accuracy by `lab
//! accuracy --twins`.

#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "lab")]

mod common;

use std::path::{Path, PathBuf};

use common::{kernel, pathtwin, program, spec, text};
use corpus::compose::{self, Scene};
use model::{
    cell::{Buffer, Cell},
    net::Direction,
    path::{Limit, Loss, Parameter, Source},
    run::Run,
    spec::Spec,
    twin::{Twin, TwinVerdict},
};

fn kept(folder: &Path, run: &Run) -> PathBuf {
    let path = folder.join("run.json");
    std::fs::write(&path, serde_json::to_vec(run).unwrap()).unwrap();
    path
}

fn by_arithmetic(arguments: &[&str], run: &Path) -> std::process::Output {
    pathtwin()
        .args(["twin", "--budget-time", "0s"])
        .args(arguments)
        .arg(run)
        .output()
        .unwrap()
}

#[test]
fn the_answer_comes_first_and_no_line_is_wider_than_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let run = kept(folder.path(), &compose::run(&Scene::default(), 1));
    let output = by_arithmetic(&[], &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let text = text(&output.stdout);
    assert!(text.starts_with("Untested:"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn the_spec_that_is_written_is_one_that_the_lab_takes() {
    let folder = tempfile::tempdir().unwrap();
    let run = kept(folder.path(), &compose::run(&Scene::default(), 1));
    let out = folder.path().join("twin.toml");
    let output = by_arithmetic(&["--out", out.to_str().unwrap()], &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let spec = std::fs::read_to_string(&out).unwrap();
    let cells = Spec::parse("twin.toml", &spec).unwrap().cells().unwrap();
    // 100 Mbit/s of IP packets, with 14 bytes of Ethernet on each 1500.
    let rate = cells[0].path.down.rate.unwrap().mbps();
    assert!(
        (rate / (100.0 * 1514.0 / 1500.0) - 1.0).abs() < 0.04,
        "{rate}"
    );
}

#[test]
fn machines_get_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let run = kept(folder.path(), &compose::run(&Scene::default(), 1));
    let output = by_arithmetic(&["--output", "json"], &run);
    let twin = Twin::parse(&output.stdout).unwrap();
    assert_eq!(twin.verdict, TwinVerdict::Untested);
    assert!(twin.members.is_empty() && twin.effort.runs == 0);
}

#[test]
fn a_run_of_one_direction_is_wrong_use_and_the_plan_that_brings_the_other_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = compose::run(&Scene::default(), 1);
    run.samples
        .retain(|s| s.key.direction != Some(Direction::Down));
    let run = kept(folder.path(), &run);
    let output = by_arithmetic(&[], &run);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("TCP in the direction down"), "{message}");
    assert!(message.contains("--quick"), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_file_that_is_not_a_run_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, "{}").unwrap();
    assert_eq!(by_arithmetic(&[], &path).status.code(), Some(2));
}

/// 10 Mbit/s, 20 ms, a queue of 50 kB (two bandwidth-delay products), loss of 0.5 %.
const LINE: &str = r#"
name = "line"
[path]
rtt = "20ms"
rate = "10mbit"
buffer = "50kB"
loss = "0.5%"
"#;

/// The Run of a lab path by the quick plan.
fn measured(line: &str) -> Vec<u8> {
    let (_folder, path) = spec(line);
    let output = pathtwin()
        .args(["measure", "--quick", "--no-store", "--output", "json"])
        .arg("--lab")
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output.stdout
}

/// Returns true if the interval of a parameter holds a value. It is one of 95 %, and six of them
/// are tested on one Run, whose losses are chance: an interval of twice the width, which is four
/// standard errors to either side, has to hold it.
fn holds<T: Clone>(parameter: &Parameter<T>, of: impl Fn(T) -> f64, truth: f64) -> bool {
    let bounds = parameter.low.clone().zip(parameter.high.clone());
    let (low, high) = bounds.expect("an interval");
    let (low, high) = (of(low), of(high));
    let more = (high - low) / 2.0;
    (low - more..=high + more).contains(&truth)
}

fn bps(limit: Limit<model::units::Rate>) -> f64 {
    limit.bound().expect("a rate").bps() as f64
}

fn bytes(buffer: Buffer) -> f64 {
    match buffer {
        Buffer::Bytes(bytes) => bytes.0 as f64,
        other => panic!("{other:?}"),
    }
}

/// The files of a folder and below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut all: Vec<PathBuf> = entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files(&path),
            path => vec![path],
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_lab_path_is_recovered_and_the_second_twin_is_the_same_document_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.json");
    std::fs::write(&run, measured(LINE)).unwrap();
    let (kernel, cache) = (kernel(), folder.path().join("cache"));
    let fitted = || {
        let output = pathtwin()
            .args(["twin", "--budget-time", "30s", "--output", "json"])
            .arg(&run)
            .env("PATHTWIN_KERNEL", &kernel)
            .env("PATHTWIN_CACHE", &cache)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        output.stdout
    };
    let first = fitted();
    let known = files(&cache);
    let twin = Twin::parse(&first).unwrap();
    assert!(
        twin.effort.runs > 0 && twin.effort.failed == 0,
        "{:?}",
        twin.effort
    );
    for direction in [Direction::Down, Direction::Up] {
        let line = twin.path.underlay.line(direction);
        assert!(
            holds(line.rate_bps.as_ref().unwrap(), bps, 10e6),
            "{line:?}"
        );
        assert!(
            holds(line.buffer.as_ref().unwrap(), bytes, 50e3),
            "{line:?}"
        );
        let Some(Loss::Random { share }) = &line.loss else {
            panic!("{line:?}");
        };
        assert!(holds(share, |s| s.get(), 0.005), "{line:?}");
    }
    assert!(fitted() == first, "another document");
    assert_eq!(files(&cache), known, "something was run again");
}

/// A shaper with a bucket of 16 kB toward this end, as tbf and htb usually have one, and a line
/// without one the other way.
const SHAPED: &str = r#"
name = "shaped"
[path]
rtt = "20ms"
rate = "20mbit"
buffer = "30ms"
[path.down]
peak = "1gbit"
peak_burst = "16kB"
"#;

/// Bug: no twin had the bucket, which bbr takes for the rate of the path.
#[test]
fn the_bucket_of_a_shaper_is_found_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.json");
    std::fs::write(&run, measured(SHAPED)).unwrap();
    let json = by_arithmetic(&["--output", "json"], &run);
    let twin = Twin::parse(&json.stdout).unwrap();
    let bucket = |direction| {
        let peak = twin.path.underlay.line(direction).peak.as_ref();
        peak.map(|peak| peak.value.burst.0)
    };
    let down = bucket(Direction::Down).expect("a bucket");
    assert!((12_000..17_000).contains(&down), "{down} bytes");
    assert_eq!(bucket(Direction::Up), None);
    assert!(twin.lab, "it is of a lab path");
}

/// The cell of the spec that `twin --out` writes of a Run.
fn written(run: &[u8]) -> Cell {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("run.json"), folder.path().join("t.toml"));
    std::fs::write(&path, run).unwrap();
    let output = by_arithmetic(&["--out", out.to_str().unwrap()], &path);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let spec = std::fs::read_to_string(&out).unwrap();
    let mut cells = Spec::parse("t.toml", &spec).unwrap().cells().unwrap();
    cells.remove(0)
}

/// A radio link: seven rates in 9 s, and a queue of 300 kB.
const CHANGING: &str = r#"
name = "changing"
[path]
rtt = "40ms"
rate = "30mbit"
buffer = "300kB"
[path.down]
rate_steps = "0s 40mbit, 1.2s 22mbit, 2.1s 34mbit, 3.4s 15mbit, 4.2s 28mbit, 6s 45mbit, 7.3s 20mbit, repeat 9s"
"#;

/// Before, a twin had one rate, and did not fit such a path.
#[test]
fn a_rate_that_changes_has_its_course_on_the_twin() {
    let cell = written(&measured(CHANGING));
    let steps = cell.path.down.rate_steps.expect("changes");
    let rates: Vec<f64> = steps.steps.iter().map(|s| s.rate.mbps()).collect();
    let levels = [40.0, 22.0, 34.0, 15.0, 28.0, 45.0, 20.0];
    let is = |rate: f64, level: f64| (rate / level - 1.0).abs() < 0.02;
    let known = levels
        .iter()
        .filter(|level| rates.iter().any(|rate| is(*rate, **level)));
    assert!(known.count() >= 3, "{rates:?}");
    // A part of a load in which the rate changed is between two of them.
    let all = 15.0 * 0.98..45.0 * 1.02;
    assert!(rates.iter().all(|rate| all.contains(rate)), "{rates:?}");
    assert_eq!(cell.path.up.rate_steps, None);
}

/// A radio link that delays one packet in thirty by 4 to 25 ms, toward this end.
const TAIL: &str = r#"
name = "tail"
[path]
rtt = "40ms"
rate = "30mbit"
[path.down]
jitter_quantiles = "90% 0.5ms, 97% 4ms, 99% 15ms, 100% 25ms"
"#;

/// Before, a twin had a uniform delay variation, here of 0.15 ms.
#[test]
fn a_delay_with_a_tail_is_on_the_twin_in_the_direction_that_has_it() {
    let cell = written(&measured(TAIL));
    let quantiles = cell.path.down.jitter_quantiles.expect("quantiles");
    let ms = |share: f64| quantiles.at(share).as_secs_f64() * 1e3;
    assert!(ms(0.9) < 1.0, "{quantiles:?}");
    assert!((2.0..8.0).contains(&ms(0.97)), "{quantiles:?}");
    assert!((10.0..26.0).contains(&ms(0.995)), "{quantiles:?}");
    assert_eq!(cell.path.up.jitter_quantiles, None);
    let delay = cell.path.down.delay.as_secs_f64() * 1e3;
    assert!((delay - 20.0).abs() < 0.5, "{delay} ms");
}

/// What iperf3 measures of a path between a server of iperf3 and this program, both in the lab.
fn through_iperf3(line: &str) -> Run {
    let (_folder, path) = spec(line);
    let (_copy, program) = program();
    let output = pathtwin()
        .args(["lab", "exec"])
        .arg(path)
        .args(["--on", "server", "--", "iperf3", "-s"])
        .args(["--on", "client", "--"])
        .arg(program)
        .args(["measure", "--quick", "--no-store", "--output", "json"])
        .arg("iperf3://server")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    // The server's output is first, and may go on.
    let document = &out[out.find("{\n").expect("a document")..];
    let mut values = serde_json::Deserializer::from_str(document).into_iter();
    let value: serde_json::Value = values.next().unwrap().unwrap();
    Run::parse(&serde_json::to_vec(&value).unwrap()).unwrap()
}

fn width(parameter: &Parameter<Limit<model::units::Rate>>) -> f64 {
    let [low, high] = [parameter.low, parameter.high].map(|bound| bps(bound.unwrap()));
    (high - low) / bps(parameter.value)
}

#[test]
fn a_path_that_only_iperf3_measured_has_wider_intervals_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let run = kept(folder.path(), &through_iperf3(LINE));
    let json = by_arithmetic(&["--output", "json"], &run);
    assert!(json.status.success(), "{}", text(&json.stderr));
    let less = Twin::parse(&json.stdout).unwrap();
    std::fs::write(&run, measured(LINE)).unwrap();
    let full = Twin::parse(&by_arithmetic(&["--output", "json"], &run).stdout).unwrap();
    for direction in [Direction::Down, Direction::Up] {
        let [less, full] = [&less, &full].map(|twin| twin.path.underlay.line(direction));
        let [rate, known] = [less, full].map(|line| line.rate_bps.as_ref().unwrap());
        assert!(width(rate) > 3.0 * width(known), "{rate:?} {known:?}");
        let [delay, known] = [less, full].map(|line| line.delay_ns.as_ref().unwrap());
        assert!(delay.low < known.low, "{delay:?} {known:?}");
        assert!(holds(delay, |ns| ns.0 as f64, 10e6), "{delay:?}");
        assert_eq!(less.buffer.as_ref().unwrap().source, Source::Assumed);
        assert_eq!(full.buffer.as_ref().unwrap().source, Source::Measured);
        let Some(Loss::Random { share }) = &less.loss else {
            panic!("{less:?}");
        };
        assert!(holds(share, |s| s.get(), 0.005), "{share:?}");
        assert!(share.high.unwrap().get() < 0.05, "{share:?}");
    }
    for said in [
        "no latency probes without load",
        "no UDP load above the path's capacity",
        "loss outside of the queue is unknown",
        "no load shows the size of the queue",
    ] {
        let note = |twin: &Twin| twin.notes.iter().any(|n| n.to_string().contains(said));
        assert!(note(&less) && !note(&full), "{said}");
    }
}

/// 20 Mbit/s, of which the tunnel gets 10 with all its headers.
const TUNNEL: &str = r#"
name = "half"
[path]
rtt = "20ms"
rate = "20mbit"
[tunnel]
kind = "wireguard"
rate = "10mbit"
"#;

#[test]
fn a_tunnel_at_half_of_the_rate_of_its_path_is_recovered_as_a_stage() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.json");
    std::fs::write(&run, measured(TUNNEL)).unwrap();
    let output = by_arithmetic(&["--output", "json"], &run);
    let twin = Twin::parse(&output.stdout).unwrap();
    let tunnel = twin.path.tunnel.as_ref().unwrap();
    for (stage, line) in [
        (&tunnel.down, &twin.path.underlay.down),
        (&tunnel.up, &twin.path.underlay.up),
    ] {
        assert!(
            holds(stage.rate_bps.as_ref().unwrap(), bps, 10e6),
            "{stage:?}"
        );
        assert!(
            holds(line.rate_bps.as_ref().unwrap(), bps, 20e6),
            "{line:?}"
        );
        assert_eq!(stage.loss, None);
    }
    let shown = text(&by_arithmetic(&[], &run).stdout);
    assert!(shown.contains("rate of the tunnel"), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
}
