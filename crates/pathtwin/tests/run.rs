//! `pathtwin lab run` from a user's view.

#![allow(clippy::expect_used)]

mod common;

use std::{
    io::Write as _,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{guests_of, parse, pathtwin, rows, sandboxes_of, spec, text};
use rustix::process::{Pid, Signal, kill_process};

const PLAIN: &str = r#"
name = "plain"
duration = "2s"
warmup = "1s"
[path]
rtt = "10ms"
rate = "20mbit"
"#;

/// Long enough to be interrupted.
const LONG: &str = r#"
name = "long"
duration = "600s"
repeats = 4
[path]
rtt = "10ms"
rate = "1gbit"
"#;

#[test]
fn a_row_has_all_columns_of_the_design() {
    let (_folder, path) = spec(PLAIN);
    let row = &rows(&path, &[])[0];
    for name in [
        "name",
        "factors",
        "seed",
        "layer",
        "direction",
        "goodput_mbps",
        "retransmits",
        "retransmitted",
        "cc_requested",
        "cc_used",
        "tcp_rtt_p50_ms",
        "probe_idle_p50_ms",
        "probe_p50_ms",
        "probe_p99_ms",
        "probe_lost",
        "queue_p50_ms",
        "queue_p99_ms",
        "rwnd_limited",
        "sndbuf_limited",
        "cpu_s",
        "valid",
        "virtual_s",
        "wall_s",
        "digest",
    ] {
        assert!(!row[name].is_null(), "{name} is missing in {row}");
    }
    assert_eq!(row["valid"], true);
}

#[test]
fn an_unknown_congestion_control_is_refused_before_a_guest_boots() {
    let (_folder, path) = spec(&format!(
        "{PLAIN}\n[matrix]\n\"ends.server.cc\" = [\"cubic\", \"no_such_cc\", \"bbr\"]\n"
    ));
    let output = pathtwin()
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.contains("no_such_cc") && message.contains("cubic"),
        "{message}"
    );
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

/// The hash of the usual image, as `lab kernel list` shows it.
fn usual_image() -> String {
    let list = pathtwin()
        .args(["lab", "kernel", "list"])
        .output()
        .expect("list the images");
    let list = text(&list.stdout);
    let usual = list.lines().find_map(|line| line.strip_prefix("* "));
    let words: Vec<&str> = usual.expect("a usual image").split_whitespace().collect();
    words[1].to_owned()
}

#[test]
fn the_kernel_is_a_factor_and_one_image_by_two_names_gives_the_same_bytes() {
    let image = usual_image();
    let (_folder, path) = spec(&format!(
        "{PLAIN}\n[matrix]\nkernel = [\"current\", \"{image}\"]\n"
    ));
    let rows = rows(&path, &[]);
    assert_eq!(rows[0]["factors"]["kernel"], "current");
    assert_eq!(rows[1]["factors"]["kernel"], image.as_str());
    assert_eq!(rows[0]["digest"], rows[1]["digest"]);
}

#[test]
fn a_kernel_that_was_not_built_is_refused_before_a_guest_boots() {
    let (_folder, path) = spec(PLAIN);
    let output = pathtwin()
        .args(["lab", "run", "--no-cache", "--set", "kernel=9.99"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    let message = text(&output.stderr);
    assert!(!output.status.success());
    assert!(
        message.contains("9.99") && message.contains(&usual_image()),
        "{message}"
    );
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

#[test]
fn a_matrix_on_an_image_that_does_not_boot_has_one_reason_and_no_table() {
    let (folder, path) = spec(PLAIN);
    let image = folder.path().join("linux");
    std::fs::copy("/bin/false", &image).expect("copy a program");
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&image)
        .expect("open the image");
    file.write_all(b"time-travel=").expect("mark the image");
    drop(file);
    let output = pathtwin()
        .env("PATHTWIN_KERNEL", &image)
        .args(["lab", "run", "--no-cache", "--set", "repeats=12"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert_eq!(message.matches("ended without a result").count(), 1);
    assert!(
        message.contains("all 12 cells failed for this one reason"),
        "{message}"
    );
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

#[test]
fn a_kernel_with_the_seccomp_mode_gives_the_same_results_without_it() {
    let (_folder, path) = spec(PLAIN);
    let digest = |seccomp: &str| {
        let output = pathtwin()
            .env("PATHTWIN_SECCOMP", seccomp)
            .args(["lab", "run", "--no-cache", "--output", "jsonl"])
            .arg(&path)
            .output()
            .expect("run pathtwin");
        assert!(output.status.success(), "{}", text(&output.stderr));
        parse(&output).remove(0)["digest"].clone()
    };
    assert_eq!(digest("yes"), digest("no"));
}

#[test]
fn a_second_run_comes_from_the_cache_and_is_the_same() {
    let cache = tempfile::tempdir().expect("make a folder");
    let (_folder, path) = spec(PLAIN);
    let kernel = common::kernel();
    let run = || {
        let output = pathtwin()
            .env("PATHTWIN_CACHE", cache.path())
            .env("PATHTWIN_KERNEL", &kernel)
            .args(["lab", "run", "--output", "jsonl"])
            .arg(&path)
            .output()
            .expect("run pathtwin");
        assert!(output.status.success(), "{}", text(&output.stderr));
        parse(&output).remove(0)
    };
    let (first, second) = (run(), run());
    assert_eq!(
        (&first["cached"], &second["cached"]),
        (&false.into(), &true.into())
    );
    for name in ["digest", "goodput_mbps", "probe_p99_ms"] {
        assert_eq!(first[name], second[name]);
    }
}

/// Waits for a condition; the timeout only detects a hang.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a run and waits until it has guests.
fn start(spec: &Path) -> (Child, Vec<i32>) {
    let child = pathtwin()
        .args(["lab", "run", "--no-cache"])
        .arg(spec)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("run pathtwin");
    let pid = child.id();
    eventually("a guest starts", || !guests_of(pid).is_empty());
    (child, guests_of(pid))
}

#[test]
fn ctrl_c_leaves_no_process_and_no_file() {
    let (_folder, path) = spec(LONG);
    let (mut child, guests) = start(&path);
    let pid = child.id();
    kill_process(Pid::from_raw(pid as i32).expect("a pid"), Signal::INT).expect("interrupt");
    assert_eq!(child.wait().expect("wait").code(), Some(130));
    eventually("all guests are gone", || guests.iter().all(|g| !alive(*g)));
    assert!(sandboxes_of(pid).is_empty());
}

#[test]
fn kill_9_leaves_no_process_and_the_next_start_clears_the_files() {
    let (_folder, path) = spec(LONG);
    let (mut child, guests) = start(&path);
    let pid = child.id();
    child.kill().expect("kill");
    child.wait().expect("wait");
    eventually("all guests are gone", || guests.iter().all(|g| !alive(*g)));
    let (_folder, plain) = spec(PLAIN);
    rows(&plain, &[]);
    assert!(sandboxes_of(pid).is_empty());
}

/// Returns true if a process runs; a zombie does not.
fn alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn a_cell_that_runs_too_long_is_ended_with_its_console() {
    let (_folder, path) = spec(LONG);
    let output = pathtwin()
        .args([
            "lab",
            "run",
            "--no-cache",
            "--wall-limit",
            "1",
            "--set",
            "repeats=1",
        ])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert_eq!(output.status.code(), Some(4));
    assert!(
        text(&output.stderr).contains("stopped after 1 s"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_wrong_spec_is_refused_with_its_line() {
    let (_folder, path) = spec("[path]\nrtt = \"10ms\"\nbufer = \"1bdp\"\n");
    let output = pathtwin()
        .args(["lab", "run"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.contains(":3: path.bufer") && message.contains("path.buffer"),
        "{message}"
    );
}

#[test]
fn the_document_and_the_kept_folder_hold_the_same_rows() {
    let (folder, path) = spec(PLAIN);
    let out = folder.path().join("out");
    let output = pathtwin()
        .args(["lab", "run", "--output", "json", "--out"])
        .arg(&out)
        .arg(&path)
        .output()
        .expect("run pathtwin");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    let kept = std::fs::read_to_string(out.join("rows.jsonl")).expect("kept rows");
    let kept: serde_json::Value = serde_json::from_str(kept.trim()).expect("a row");
    assert_eq!(document["rows"][0], kept);
    for file in ["cell.json", "output.json", "records.bin", "truth.bin"] {
        assert!(out.join("0000").join(file).exists(), "{file}");
    }
}

/// Bug: the rows of a run were printed after its folder was written, so an error there took them.
#[test]
fn rows_are_printed_though_their_folder_cannot_be_written() {
    let (folder, path) = spec(PLAIN);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).expect("make a folder");
    std::fs::write(out.join("0000"), "in the way").expect("write a file");
    let output = pathtwin()
        .args(["lab", "run", "--output", "jsonl", "--out"])
        .arg(&out)
        .arg(&path)
        .output()
        .expect("run pathtwin");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(message.contains("0000"), "{message}");
    assert_eq!(text(&output.stdout).lines().count(), 1, "{message}");
}

/// Bug: `--out` was first looked at when all cells had been run.
#[test]
fn a_folder_that_cannot_be_written_is_refused_before_cells_are_run() {
    let (folder, path) = spec(PLAIN);
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").expect("write a file");
    let output = pathtwin()
        .args(["lab", "run", "--out"])
        .arg(file.join("out"))
        .arg(&path)
        .output()
        .expect("run pathtwin");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(text(&output.stdout).is_empty(), "{message}");
}

/// Bug: a cell's folder kept the error of a run before the one whose results are in it.
#[test]
fn a_kept_folder_has_no_error_of_an_earlier_run() {
    let (folder, path) = spec(PLAIN);
    let out = folder.path().join("out");
    let cell = out.join("0000");
    std::fs::create_dir_all(&cell).expect("make a folder");
    std::fs::write(cell.join("error.txt"), "an earlier run").expect("write a file");
    let output = pathtwin()
        .args(["lab", "run", "--out"])
        .arg(&out)
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!cell.join("error.txt").exists() && cell.join("output.json").exists());
}

#[test]
fn competing_traffic_has_separate_rows() {
    let (_folder, path) = spec(&format!(
        "{PLAIN}\n[[cross]]\nkind = \"tcp\"\nstart = \"0s\"\n"
    ));
    let rows = rows(&path, &[]);
    assert_eq!(rows.len(), 2);
    let sum: f64 = rows
        .iter()
        .map(|r| r["goodput_mbps"].as_f64().expect("a goodput"))
        .sum();
    // Together they fill the line, and no more.
    assert!((18.0..19.2).contains(&sum), "{sum}");
}
