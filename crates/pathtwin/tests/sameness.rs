//! Reproducibility: the same spec, seed and image give the same bytes, under any load of the host.
//!
//! `PATHTWIN_REPLAYS` sets how often each cell is replayed in each condition, and adds those that
//! change the host meanwhile, if this is root. The default is for every test run; `make sameness`
//! does 20.

#![allow(clippy::expect_used)]

mod common;

use std::{
    collections::BTreeSet,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use common::{copy_program, guest, guests_of, is_root, kernel, parse, rows, spec, text};

const LOSSY_CUBIC: &str = include_str!("sameness/lossy-cubic.toml");
const TUNNELLED_BBR: &str = include_str!("sameness/tunnelled-bbr.toml");
const CROSSED_DUALPI2: &str = include_str!("sameness/crossed-dualpi2.toml");

const CELLS: [&str; 3] = [LOSSY_CUBIC, TUNNELLED_BBR, CROSSED_DUALPI2];

fn replays() -> usize {
    std::env::var("PATHTWIN_REPLAYS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1)
}

fn digests(spec: &Path) -> BTreeSet<String> {
    rows(spec, &[]).iter().map(digest).collect()
}

fn digest(row: &serde_json::Value) -> String {
    row["digest"].as_str().expect("a digest").to_owned()
}

/// Runs `body` while `load` runs in `threads` threads.
fn beside<T>(threads: usize, load: impl Fn(&AtomicBool) + Sync, body: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| load(&done));
        }
        let result = body();
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn spin(done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

fn busy(spec: &Path) -> BTreeSet<String> {
    beside(4, spin, || digests(spec))
}

fn pinned(spec: &Path) -> BTreeSet<String> {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", env!("CARGO_BIN_EXE_pathtwin")]);
    command
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(spec);
    let output = command
        .env("PATHTWIN_GUEST", guest())
        .output()
        .expect("taskset of util-linux");
    assert!(output.status.success(), "{}", text(&output.stderr));
    parse(&output).iter().map(digest).collect()
}

/// Stops and continues every process of the guest every few milliseconds.
fn stuttering(spec: &Path) -> BTreeSet<String> {
    let mut child = common::pathtwin()
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(spec)
        .stdout(Stdio::piped())
        .spawn()
        .expect("run pathtwin");
    let pid = child.id();
    let mut stdout = child.stdout.take().expect("piped");
    let mut printed = String::new();
    let stutter = |done: &AtomicBool| {
        while !done.load(Ordering::Relaxed) {
            let guests = guests_of(pid);
            for signal in [rustix::process::Signal::STOP, rustix::process::Signal::CONT] {
                for guest in guests
                    .iter()
                    .filter_map(|&g| rustix::process::Pid::from_raw(g))
                {
                    let _ = rustix::process::kill_process(guest, signal);
                }
                thread::sleep(Duration::from_millis(3));
            }
        }
    };
    beside(1, stutter, || {
        stdout.read_to_string(&mut printed).expect("read rows")
    });
    assert!(child.wait().expect("wait").success());
    let rows = printed
        .lines()
        .map(|l| serde_json::from_str(l).expect("a row a line"));
    rows.map(|row: serde_json::Value| digest(&row)).collect()
}

/// Another working folder, user (if this one is root) and environment, and other names of all
/// files.
fn elsewhere(spec: &Path) -> BTreeSet<String> {
    let folder = tempfile::Builder::new()
        .prefix("another place ")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir()
        .expect("make a folder");
    let copy = |from: &Path, name: &str| {
        let to = folder.path().join(name);
        copy_program(from, &to);
        to
    };
    let program = copy(Path::new(env!("CARGO_BIN_EXE_pathtwin")), "program");
    let (guest, kernel) = (
        copy(&guest(), "another-guest"),
        copy(&kernel(), "another-kernel"),
    );
    let spec = copy(spec, "another.toml");
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=-all",
        ]);
        command.args(["--bounding-set=-all", "--"]).arg(&program);
        command
    } else {
        Command::new(&program)
    };
    command
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(spec.file_name().expect("a name"))
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "zh_CN.UTF-8")
        .env("PATHTWIN_SEED", "99")
        .env("PATHTWIN_GUEST", guest)
        .env("PATHTWIN_KERNEL", kernel);
    let output = command.output().expect("setpriv of util-linux");
    assert!(output.status.success(), "{}", text(&output.stderr));
    parse(&output).iter().map(digest).collect()
}

/// A file of the host's kernel that has another value until it is dropped.
struct HostValue {
    file: &'static str,
    old: String,
}

impl HostValue {
    fn set(file: &'static str, value: &str) -> Self {
        let old = std::fs::read_to_string(file).expect("a value of the kernel");
        // A choice is shown as `always [madvise] never`.
        let chosen = old.split(['[', ']']).nth(1).unwrap_or(old.trim());
        std::fs::write(file, value).expect("change the host, as root");
        Self {
            file,
            old: chosen.to_owned(),
        }
    }
}

impl Drop for HostValue {
    fn drop(&mut self) {
        let _ = std::fs::write(self.file, &self.old);
    }
}

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

fn with_huge_pages(spec: &Path) -> BTreeSet<String> {
    let _host = HostValue::set(HUGE_PAGES, "always");
    digests(spec)
}

fn without_huge_pages(spec: &Path) -> BTreeSet<String> {
    let _host = HostValue::set(HUGE_PAGES, "never");
    digests(spec)
}

/// Memory is reserved when it is mapped, not when it is used.
fn without_overcommit(spec: &Path) -> BTreeSet<String> {
    let _host = HostValue::set("/proc/sys/vm/overcommit_memory", "2");
    digests(spec)
}

/// A processor that lacks what newer ones have, as far as the guest's kernel can see: it reads the
/// flags of `/proc/cpuinfo` (arch/um/kernel/um_arch.c, Linux 7.2), and chooses its ciphers and
/// checksums by them.
fn on_an_older_processor(spec: &Path) -> BTreeSet<String> {
    let newer = [
        "avx",
        "sha_ni",
        "vaes",
        "vpclmulqdq",
        "gfni",
        "bmi",
        "adx",
        "ssse3",
        "sse4",
    ];
    let kept = |word: &&str| !newer.iter().any(|flag| word.starts_with(flag));
    let now = std::fs::read_to_string("/proc/cpuinfo").expect("/proc/cpuinfo");
    let older = now.lines().map(|line| match line.starts_with("flags") {
        true => line.split(' ').filter(kept).collect::<Vec<_>>().join(" "),
        false => line.to_owned(),
    });
    let older = older.collect::<Vec<_>>().join("\n") + "\n";
    assert!(
        older.len() < now.len(),
        "this processor has none of {newer:?}"
    );
    let file = tempfile::NamedTempFile::new().expect("make a file");
    std::fs::write(&file, older).expect("write flags");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-ec"]);
    command.arg("mount --bind \"$0\" /proc/cpuinfo && exec \"$@\"");
    command.arg(file.path()).arg(env!("CARGO_BIN_EXE_pathtwin"));
    command.args(["lab", "run", "--no-cache", "--output", "jsonl"]);
    let output = command.arg(spec).env("PATHTWIN_GUEST", guest()).output();
    let output = output.expect("unshare of util-linux");
    assert!(output.status.success(), "{}", text(&output.stderr));
    parse(&output).iter().map(digest).collect()
}

/// The name of a spec.
fn title(cell: &str) -> &str {
    cell.split('"').nth(1).unwrap_or_default()
}

/// A condition under which a spec is replayed.
type Condition = (&'static str, fn(&Path) -> BTreeSet<String>);

const CONDITIONS: [Condition; 5] = [
    ("idle", digests),
    ("both processors busy", busy),
    ("held to one processor", pinned),
    ("stopped and continued", stuttering),
    ("another folder, user and environment", elsewhere),
];

/// Those that need root. The first ones change the whole host.
const OF_HOST: [Condition; 4] = [
    ("huge pages always", with_huge_pages),
    ("huge pages never", without_huge_pages),
    ("no overcommit", without_overcommit),
    ("an older processor", on_an_older_processor),
];

/// The conditions of this test run.
fn conditions() -> impl Iterator<Item = Condition> {
    let is_asked = std::env::var_os("PATHTWIN_REPLAYS").is_some();
    let of_host = match is_root() {
        true if is_asked => &OF_HOST[..],
        true => &OF_HOST[3..],
        false => {
            eprintln!("skipped: an older processor needs root");
            &[]
        }
    };
    CONDITIONS.into_iter().chain(of_host.iter().copied())
}

#[test]
fn replays_are_the_same_bytes_whatever_the_host_does() {
    for cell in CELLS {
        let (_folder, path) = spec(cell);
        let expected = digests(&path);
        assert_eq!(expected.len(), 1, "all rows of a cell carry its one digest");
        for (name, condition) in conditions() {
            for replay in 0..replays() {
                assert_eq!(
                    condition(&path),
                    expected,
                    "{name}, replay {replay}:\n{cell}"
                );
            }
            eprintln!("{}, {name}: {} replays", title(cell), replays());
        }
    }
}

#[test]
fn another_seed_is_another_run() {
    for cell in CELLS {
        let (_folder, path) = spec(cell);
        let seeds: BTreeSet<String> = ["1", "2", "3"]
            .iter()
            .map(|seed| digest(&rows(&path, &["--seed", seed])[0]))
            .collect();
        assert_eq!(seeds.len(), 3, "{cell}");
    }
}
