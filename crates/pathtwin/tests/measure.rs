//! `measure` between the ends of lab paths, and the real `serve` and `measure` on the same paths.

#![allow(clippy::expect_used)]

mod common;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use common::{kernel, pathtwin, program, spec, text};
use model::run::{Run, StepKind};

const PATH: &str =
    "name = \"path\"\nseed = 3\n[path]\nrate = \"20mbit\"\nrtt = \"30ms\"\nbuffer = \"1bdp\"\n";

const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "pmtu"
duration_s = 2
[[step]]
kind = "idle"
duration_s = 2
[[step]]
kind = "udp_sweep"
direction = "down"
from_bps = 1_000_000
to_bps = 1_000_000_000
duration_s = 2
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["bbr"]
warmup_s = 1
duration_s = 5
repeat = true
[[step]]
kind = "tcp"
direction = "up"
flows = 2
cc = ["cubic"]
warmup_s = 1
duration_s = 5
repeat = true
"#;

fn in_lab(path: &str, plan: &str) -> Vec<u8> {
    let (folder, path) = spec(path);
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, plan).expect("write the plan");
    let output = pathtwin()
        .args(["measure", "--no-cache", "--output", "json", "--lab"])
        .arg(path)
        .arg("--plan")
        .arg(file)
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    output.stdout
}

/// Bug: a path that loses a fifth of its traffic seemed full at the first rate of the sweep, 0.5
/// Mbit/s, and then "healthy", since TCP reached more.
#[test]
fn a_path_that_loses_much_is_not_full_at_the_first_rate() {
    let path = format!("{PATH}[path.up]\nloss = \"20%\"\n");
    let sweep = "repeats = { min = 1, max = 1 }\n[[step]]\nkind = \"udp_sweep\"\n\
        direction = \"up\"\nfrom_bps = 500_000\nto_bps = 1_000_000_000\nduration_s = 2\n";
    let run = Run::parse(&in_lab(&path, sweep)).expect("a run");
    let capacity = run.samples[0].capacity_bps.expect("a capacity");
    // Lost before the bottleneck or after it: of all packets sent, or of those that passed.
    let bounds = 0.95 * 20e6..1.05 * 20e6 / 0.8;
    assert!(bounds.contains(&capacity), "{capacity}");
    let udp = run.samples[0].udp.expect("a load below the capacity");
    assert!((0.17..0.23).contains(&udp.lost), "{}", udp.lost);
}

/// Bug: others that used a tunnel of routers from both sides started two handshakes at the same
/// moment, and again every 5 s, so that the measurement could not connect and had no result.
#[test]
fn a_tunnel_that_others_use_from_both_sides_carries_the_measurement() {
    let idle = "repeats = { min = 1, max = 1 }\n[[step]]\nkind = \"idle\"\nduration_s = 2\n";
    let path = "name = \"path\"\nseed = 5\n[path]\nrate = \"560kbit\"\nrtt = \"500ms\"\nqueue = \"cake\"\n\
        [tunnel]\nkind = \"wireguard\"\nat = \"routers\"\n";
    let other = |direction, rate| {
        format!(
            "[[cross]]\nkind = \"udp\"\nrate = \"{rate}\"\npayload = 1000\ndirection = \"{direction}\"\n"
        )
    };
    let path = [path, &other("down", "300kbit"), &other("up", "36kbit")].concat();
    let run = Run::parse(&in_lab(&path, idle)).expect("a run");
    let us = idle_us(&run);
    assert!((500_000.0..600_000.0).contains(&us), "{us}");
}

fn goodput(run: &Run, direction: &str) -> f64 {
    let sample = run
        .samples
        .iter()
        .find(|s| s.key.step == StepKind::Tcp && s.key.to_string().contains(direction))
        .expect("a TCP sample");
    assert!(sample.valid, "{:?}", sample.invalid);
    sample.tcp.as_ref().expect("a TCP load").goodput_bps
}

fn idle_us(run: &Run) -> f64 {
    let sample = run.samples.iter().find(|s| s.key.step == StepKind::Idle);
    let probes = sample.and_then(|s| s.probes.as_ref()).expect("probes");
    probes.p50_us.expect("a median")
}

#[test]
fn a_lab_path_is_measured_without_adapting_it() {
    let run = Run::parse(&in_lab(PATH, PLAN)).expect("a run");
    assert_eq!(run.cut_short, None);
    assert!(run.lab);
    assert!(
        (idle_us(&run) - 30_000.0).abs() < 100.0,
        "{}",
        idle_us(&run)
    );
    let capacity = run
        .samples
        .iter()
        .find_map(|s| s.capacity_bps)
        .expect("a capacity");
    let truth = 20e6 * 1500.0 / 1514.0;
    assert!((capacity / truth - 1.0).abs() < 0.01, "{capacity}");
    let pmtu = run
        .samples
        .iter()
        .find_map(|s| s.pmtu.clone())
        .expect("a search");
    assert_eq!((pmtu.up, pmtu.down), (Some(1500), Some(1500)));
    // A clean path is filled: 0.9564 of the rate is payload.
    for direction in ["down", "up"] {
        let share = goodput(&run, direction) / 20e6;
        assert!((0.93..0.957).contains(&share), "{direction}: {share}");
    }
}

/// The measurement was made, and then its answer was lost because `--out` is a folder.
#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("make a folder");
    let spec = folder.path().join("path.toml");
    std::fs::write(&spec, PATH).expect("write it");
    for command in [
        ["measure", "--quick", "--out"].as_slice(),
        &["lab", "run", "--graph"],
        &["fix", "--out"],
    ] {
        let mut asked = pathtwin();
        asked.args(command).arg(folder.path());
        if command[0] != "lab" {
            asked.arg("--lab");
        }
        // No image: what boots a guest fails by another error.
        let output = asked.arg(&spec).env("PATHTWIN_KERNEL", "/nowhere").output();
        let output = output.expect("run pathtwin");
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let said = text(&output.stderr);
        assert!(
            said.contains("Is a directory") || said.contains("is a directory"),
            "{said}"
        );
    }
}

/// Bug: a run was measured, and then lost because its history could not be opened.
#[test]
fn a_history_that_cannot_be_opened_is_refused_before_anything_is_measured() {
    let (_folder, path) = spec(PATH);
    let store = path.join("history.db");
    for (command, parts) in [
        ("measure", ["nothing was measured", "--no-store"]),
        ("fix", ["nothing was changed", "--store"]),
    ] {
        let mut asked = pathtwin();
        asked.args([command, "--lab"]).arg(&path);
        asked.arg("--store").arg(&store);
        // No image: what boots a guest fails by another error.
        let output = asked.env("PATHTWIN_KERNEL", "/nowhere").output();
        let output = output.expect("run pathtwin");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        for part in ["cannot open the history"].iter().chain(&parts) {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

/// Bug: a run whose file failed only when it was written, such as on a full disk, was in no history
/// either.
#[test]
fn a_run_whose_file_cannot_be_written_is_kept_elsewhere() {
    let (folder, path) = spec(PATH);
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, "[[step]]\nkind = \"idle\"\nduration_s = 2\n").expect("write the plan");
    let store = folder.path().join("history.db");
    let measure = |more: &[&std::ffi::OsStr]| {
        let mut asked = pathtwin();
        asked
            .args(["measure", "--out", "/dev/full", "--lab"])
            .arg(&path);
        asked
            .arg("--plan")
            .arg(&plan)
            .args(more)
            .current_dir(folder.path());
        let output = asked.output().expect("run pathtwin");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{said}");
        let (_, name) = said.rsplit_once("the run is kept as ").expect("its name");
        name.trim().to_owned()
    };
    let kept = measure(&[]);
    assert!(kept.starts_with("./pathtwin-"), "{kept}");
    let file = std::fs::read(folder.path().join(&kept)).expect("the run");
    let run = Run::parse(&file).expect("a run");
    assert!(kept.contains(&run.id), "{kept}");
    let id = measure(&["--store".as_ref(), store.as_os_str()]);
    let listed = pathtwin()
        .args(["history", "list", "--store"])
        .arg(&store)
        .output();
    let listed = text(&listed.expect("run pathtwin").stdout);
    assert!(listed.contains(&id[..8]), "{id}: {listed}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let path = "name = \"t\"\nseed = 5\n[path]\nrate = \"10mbit\"\nrtt = \"10ms\"\nloss = \"1%\"\n[tunnel]\nkind = \"wireguard\"\n";
    let plan = "repeats = { min = 1, max = 1 }\n[[step]]\nkind = \"tcp\"\ndirection = \"both\"\nflows = 1\ncc = [\"cubic\"]\nwarmup_s = 0.5\nduration_s = 2\nrepeat = true\n";
    let first = in_lab(path, plan);
    assert!(first == in_lab(path, plan), "two runs of one seed differ");
    let other = in_lab(&path.replace("seed = 5", "seed = 6"), plan);
    assert!(first != other, "two seeds gave the same run");
}

/// Results are cached by content: the second time the run is returned immediately, byte for byte. A
/// damaged entry is not used, and is reported.
#[test]
fn a_cached_run_is_the_same_and_a_truncated_one_is_computed_again() {
    let (folder, path) = spec(PATH);
    let (kernel, cache) = (kernel(), folder.path().join("cache"));
    let measure = |more: &[&str]| {
        let started = Instant::now();
        let output = pathtwin()
            .env("PATHTWIN_KERNEL", &kernel)
            .env("PATHTWIN_CACHE", &cache)
            .args(["measure", "--quick", "--no-store", "--output", "json"])
            .args(more)
            .arg("--lab")
            .arg(&path)
            .output()
            .expect("run pathtwin");
        assert!(output.status.success(), "{}", text(&output.stderr));
        (output.stdout, text(&output.stderr), started.elapsed())
    };
    let (first, ..) = measure(&[]);
    // The quickest of three: the machine may have other work.
    let cached: Vec<_> = (0..3).map(|_| measure(&[])).collect();
    let took = cached.iter().map(|(.., took)| *took).min();
    let took = took.expect("three times");
    assert!(
        cached.iter().all(|(run, ..)| *run == first),
        "the cached run differs"
    );
    assert!(took < Duration::from_secs(1), "{took:?}");
    // Another seed is another job.
    let (other, ..) = measure(&["--seed", "4"]);
    assert!(first != other);

    let files: Vec<_> = walk(&cache.join("cells"));
    assert_eq!(files.len(), 2, "{files:?}");
    for file in &files {
        let file = std::fs::File::options().write(true).open(file);
        let file = file.expect("open a cache entry");
        let length = file.metadata().expect("its length").len();
        file.set_len(length / 2).expect("cut it");
    }
    let (third, message, took_again) = measure(&[]);
    assert!(first == third, "the run computed again differs");
    assert!(message.contains("its checksum differs"), "{message}");
    assert!(took_again > took);
    let (fourth, message, _) = measure(&["--no-cache"]);
    assert!(
        first == fourth && !message.contains("discarded"),
        "{message}"
    );
}

/// All files below a folder.
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("read a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The programs as a user runs them, each on a host of the path, against the plan in the guest.
/// Bug: it waited for each reply before it sent the next: about one of each size on such a path.
#[test]
fn a_long_path_gets_enough_datagrams_of_each_size() {
    const LONG: &str =
        "name = \"long\"\n[path]\nrate = \"10mbit\"\nrtt = \"300ms\"\nloss = \"0%\"\n";
    const SIZES: &str =
        "[[step]]\nkind = \"idle\"\nduration_s = 1\n[[step]]\nkind = \"sizes\"\nduration_s = 3\n";
    let run = Run::parse(&in_lab(LONG, SIZES)).expect("a run");
    let sizes = &run.samples.last().expect("a sample").sizes;
    assert!(sizes.len() >= 10, "{sizes:?}");
    for size in sizes {
        // One every 10 ms for 3 s, twelve sorts of them.
        assert!(size.sent >= 20, "{size:?}");
        assert_eq!(size.sent, size.received, "the path loses nothing");
    }
}

#[test]
fn the_real_programs_agree_with_the_plan_in_the_guest() {
    let expected = Run::parse(&in_lab(PATH, PLAN)).expect("a run");
    let (folder, path) = spec(PATH);
    let (_copy, program) = program();
    let run = run_programs(&path, folder.path(), &program);
    for direction in ["down", "up"] {
        let ratio = goodput(&run, direction) / goodput(&expected, direction);
        assert!((ratio - 1.0).abs() < 0.02, "{direction}: {ratio}");
    }
    let difference = idle_us(&run) - idle_us(&expected);
    assert!(difference.abs() < 100.0, "{difference} µs");
}

fn run_programs(path: &Path, _folder: &Path, program: &Path) -> Run {
    let program = program.display();
    // The guest's files are the host's, read-only; files to write are in its memory.
    let server = format!("{program} serve --open");
    let client = format!(
        "cat > /tmp/plan.toml <<'END'\n{PLAN}\nEND\nexec {program} measure server --open --plan /tmp/plan.toml --output json"
    );
    let output = pathtwin()
        .args(["lab", "exec"])
        .arg(path)
        .args(["--on", "server", "--", "sh", "-c", &server])
        .args(["--on", "client", "--", "sh", "-c", &client])
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    // With several programs, the output of the first comes first; the server prints none.
    Run::parse(&output.stdout).expect("a run")
}
