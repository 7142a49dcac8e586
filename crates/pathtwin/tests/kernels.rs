//! Images of two series of Linux side by side, as a factor of a matrix. `make kernels` builds the
//! second one; without it these tests are skipped.

#![allow(clippy::expect_used)]

mod common;

use common::{parse, pathtwin, rows, spec, text};
use serde_json::Value;

/// The series that `make kernels` builds beside the usual one.
const OLDER: &str = "6.12";
/// The series of the usual image.
const NEWER: &str = "7.2";

/// A queue that is full for most of the time.
const FULL: &str = r#"
name = "kernels"
duration = "8s"
warmup = "2s"
repeats = 2
[path]
rtt = "20ms"
rate = "10mbit"
queue = "fifo"
[traffic]
cc = "cubic"
"#;

/// Returns true if there are images of both series.
fn both_are_built() -> bool {
    let output = pathtwin().args(["lab", "kernel", "list"]).output();
    let list = text(&output.expect("list the images").stdout);
    let versions: Vec<&str> = list
        .lines()
        .filter_map(|line| line.trim_start_matches('*').split_whitespace().next())
        .collect();
    let absent = [OLDER, NEWER].into_iter().find(|series| {
        !versions
            .iter()
            .any(|v| v.starts_with(&format!("{series}.")))
    });
    if let Some(series) = absent {
        eprintln!("skipped: there is no image of Linux {series}; run: make kernels");
    }
    absent.is_none()
}

/// A row as text, without what the host's processor made of it and the name of the image.
fn own(row: &Value) -> String {
    let mut row = row.clone();
    for name in ["cpu_s", "wall_s", "factors"] {
        let removed = row.as_object_mut().expect("a row").remove(name);
        assert!(removed.is_some(), "no {name}");
    }
    row.to_string()
}

fn of<'a>(rows: &'a [Value], series: &str) -> Vec<&'a Value> {
    let named = |row: &&Value| row["factors"]["kernel"] == series;
    rows.iter().filter(named).collect()
}

#[test]
fn two_series_in_one_matrix_give_the_rows_that_each_gives_alone() {
    if !both_are_built() {
        return;
    }
    let (_folder, both) = spec(&format!(
        "{FULL}\n[matrix]\nkernel = [\"{OLDER}\", \"{NEWER}\"]\n"
    ));
    let (_folder, plain) = spec(FULL);
    let together = rows(&both, &[]);
    assert_eq!(together.len(), 4);
    for series in [OLDER, NEWER] {
        let alone = rows(&plain, &["--set", &format!("kernel={series}")]);
        let (alone, together): (Vec<String>, Vec<String>) = (
            alone.iter().map(own).collect(),
            of(&together, series).into_iter().map(own).collect(),
        );
        assert_eq!(together.len(), 2, "{series}");
        assert_eq!(together, alone, "{series}");
    }
}

/// A segment of 1448 bytes takes 1514 on the line (RFC 7323: 12 bytes of 1460 are timestamps).
const SHARE: f64 = 1448.0 / 1514.0;

#[test]
fn both_series_say_which_they_are_and_fill_a_line_of_10_mbit() {
    if !both_are_built() {
        return;
    }
    let (_folder, path) = spec(&format!(
        "{FULL}\n[matrix]\nkernel = [\"{OLDER}\", \"{NEWER}\"]\n"
    ));
    let all = rows(&path, &[]);
    for series in [OLDER, NEWER] {
        for row in of(&all, series) {
            let release = row["kernel"].as_str().expect("a release");
            assert!(release.starts_with(&format!("{series}.")), "{row}");
            let goodput = row["goodput_mbps"].as_f64().expect("a goodput");
            assert!((goodput / (10.0 * SHARE) - 1.0).abs() < 0.02, "{row}");
        }
    }
    let digests =
        |series| -> Vec<&Value> { of(&all, series).iter().map(|r| &r["digest"]).collect() };
    // Acknowledgements of 7.2 leave up to 256 ns later (patch 0016, which does not fit 6.12): the
    // figures are the same, and not one byte may be taken from the other image.
    assert_ne!(digests(OLDER), digests(NEWER));
}

/// DualPI2 came with Linux 6.17 (net/sched/sch_dualpi2.c).
#[test]
fn a_queue_that_only_the_newer_kernel_has_fails_by_name_on_the_older_one_alone() {
    if !both_are_built() {
        return;
    }
    let (_folder, path) = spec(&format!(
        "{FULL}\n[matrix]\nkernel = [\"{OLDER}\", \"{NEWER}\"]\n"
    ));
    let output = pathtwin()
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .args(["--set", "path.queue=dualpi2", "--set", "repeats=1"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    for part in [&format!("{{\"kernel\":\"{OLDER}\"}}"), "dualpi2"] {
        assert!(said.contains(part), "no {part} in: {said}");
    }
    let rows = parse(&output);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["factors"]["kernel"], NEWER);
    assert_eq!(rows[0]["valid"], true, "{}", rows[0]);
}
