//! A watch killed at any time loses no charge, and continues.
//!
//! The watch is a separate process: this program, started again with [`CHILD`] set.

#![allow(clippy::expect_used)]

mod common;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use common::World;
use stats::Random;
use watch::state::Folder;

/// Set for the process to be killed: the folder of its state.
const CHILD: &str = "PATHTWIN_TEST_CRASH";
/// May be set for it: a folder in memory.
const RUNTIME: &str = "PATHTWIN_TEST_CRASH_RUNTIME";
/// Set for it: days since the start, and a seed.
const DAY: &str = "PATHTWIN_TEST_CRASH_DAY";
const SEED: &str = "PATHTWIN_TEST_CRASH_SEED";
const PATHS: usize = 3;
const BUDGET: &str = "60GB";
const KILLS: u64 = 60;

fn number(name: &str) -> f64 {
    let text = std::env::var(name).expect("it is set");
    text.parse().expect("a number")
}

/// Runs only in the process to kill.
#[test]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else {
        return;
    };
    let folder = Folder::open(Path::new(&folder)).expect("open the folder");
    let folder = match std::env::var(RUNTIME) {
        Ok(runtime) => folder.with_runtime(Path::new(&runtime)).expect("open it"),
        Err(_) => folder,
    };
    let seed = number(SEED) as u64;
    let mut world = World::resumed(PATHS, BUDGET, number(DAY), (folder, seed));
    let (spent, month) = (world.watcher.spent(world.now), world.now.month());
    println!("spent {} {spent} {month}", world.day());
    world.run(400.0);
}

#[test]
fn no_kill_forgets_a_charge() {
    killed(None);
}

/// What is in memory is lost with some of the kills.
#[test]
fn no_power_failure_forgets_a_charge_though_the_disk_is_hardly_written() {
    let memory = tempfile::tempdir().expect("a folder");
    killed(Some(&memory.path().join("runtime")));
}

fn killed(runtime: Option<&Path>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut day, mut carried, mut carried_month) = (0.0, 0u64, String::new());
    let mut random = Random::new(9);
    for kill in 0..KILLS {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        if let Some(runtime) = runtime {
            command.env(RUNTIME, runtime);
            if kill % 3 != 0 && runtime.exists() {
                std::fs::remove_dir_all(runtime).expect("the power fails");
            }
        }
        let mut child = command
            .args(["--exact", "child", "--nocapture"])
            .env(CHILD, folder.path())
            .env(DAY, f64::to_string(&day))
            .env(SEED, kill.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("start the watch");
        let out = child.stdout.take().expect("its output");
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let first = lines
            .find(|line| line.contains("spent "))
            .expect("it reads its state");
        let words: Vec<&str> = first.split_whitespace().rev().collect();
        let spent: u64 = words[1].parse().expect("bytes");
        let same = words[0] == carried_month;
        assert!(
            !same || spent >= carried,
            "{spent} bytes charged, {carried} carried"
        );
        std::thread::sleep(Duration::from_micros((150_000.0 * random.unit()) as u64));
        child.kill().expect("kill it");
        child.wait().expect("it is gone");
        for line in lines.filter(|line| line.contains("carried ")) {
            let words: Vec<&str> = line.split_whitespace().rev().collect();
            // The last line may be cut.
            let [month, bytes, at, ..] = words[..] else {
                continue;
            };
            let (Ok(bytes), Ok(at)) = (bytes.parse::<u64>(), at.parse::<f64>()) else {
                continue;
            };
            if month != carried_month {
                (carried, carried_month) = (0, month.to_owned());
            }
            carried += bytes;
            day = at;
        }
        let damaged = folder.path().join("watch.damaged");
        assert!(!damaged.exists(), "a part of a file was left");
    }
    assert!(day > 0.0, "it never went on: day {day}");
}
