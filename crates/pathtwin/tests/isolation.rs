//! Programs in the lab that try to write the host's files: by remounting read-only mounts
//! read-write, and by mounting the host's files anew.

#![allow(clippy::expect_used)]

mod common;

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
    time::Duration,
};

use common::{guest, guests_of, is_root, kernel, pathtwin, text};

const PATH: &str = "[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\n";

/// Tries every way to change `$1`, and reports each that worked; then shows `$2` if it can. The
/// program mount(8) is not used: its set-user-ID bit has a different meaning under mapped users.
const ATTACK: &str = r#"
mnt() { python3 -c 'import ctypes, sys
kind, at, flags, data = (a.encode() for a in sys.argv[1:])
sys.exit(ctypes.CDLL(None).mount(kind, at, kind, int(flags), data) != 0)' "$@"; }
mnt none / 32 "" && echo remounted
mkdir -p /tmp/again && mnt hostfs /tmp/again 0 /host && echo mounted
for victim in "$1" "/tmp/again$1"; do
    echo x >> "$victim" && echo WROTE
    true > "$victim" && echo TRUNCATED
    chmod 777 "$victim"
    touch -d 2001-01-01 "$victim"
    echo x > "$victim.new" && echo MADE
    ln "$victim" "$victim.link" && echo LINKED
    ln -s x "$victim.symlink" && echo SYMLINKED
    mkdir "$victim.folder" && echo MADE FOLDER
    mkfifo "$victim.fifo" && echo MADE FIFO
    mv "$victim" "$victim.moved" && echo MOVED
    [ ! -e "$victim" ] || { rm -f "$victim"; [ -e "$victim" ] || echo REMOVED; }
done
cat "/tmp/again$2" && echo SHOWN
echo finished
"#;

/// A user without any other processes here.
const USER: u32 = 54_321;

/// A folder that programs in the lab see, with a file to attack, a file only its owner may read,
/// and all that another user needs to run the lab.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let base = env!("CARGO_TARGET_TMPDIR");
        let folder = tempfile::tempdir_in(base).expect("make a folder");
        let scene = Self { folder };
        let write = |name: &str, text: &str| fs::write(scene.at(name), text).expect("write");
        write("spec.toml", PATH);
        write("attack.sh", ATTACK);
        write("secret", "the secret of its owner\n");
        fs::create_dir(scene.at("own")).expect("make a folder");
        write("own/victim", "as it was\n");
        for (from, to) in [
            (PathBuf::from(env!("CARGO_BIN_EXE_pathtwin")), "pathtwin"),
            (guest(), "pathtwin-guest"),
            (kernel(), "linux"),
        ] {
            fs::copy(from, scene.at(to)).expect("copy");
        }
        for (name, mode) in [(".", 0o755), ("secret", 0o600), ("own/victim", 0o600)] {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(scene.at(name), mode).expect("set the mode");
        }
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `lab exec` of the attack, to be started by `before`.
    fn attack(&self, before: &[&str]) -> Output {
        let mut words = before.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        words.push(self.at("pathtwin").display().to_string());
        let (first, rest) = words.split_first().expect("a program");
        Command::new(first)
            .args(rest)
            .env("PATHTWIN_KERNEL", self.at("linux"))
            .env("PATHTWIN_GUEST", self.at("pathtwin-guest"))
            .args(["lab", "exec"])
            .arg(self.at("spec.toml"))
            .args(["--on", "client", "--", "sh"])
            .arg(self.at("attack.sh"))
            .arg(self.at("own/victim"))
            .arg(self.at("secret"))
            .output()
            .expect("run pathtwin")
    }

    /// The file and its folder are as they were, and the attack was carried out.
    fn assert_unharmed(&self, output: &Output) {
        let message = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(
            ["remounted", "\nmounted", "finished"]
                .iter()
                .all(|w| message.contains(w)),
            "{message}"
        );
        let done = text(&output.stdout);
        for line in done.lines() {
            assert!(
                ["remounted", "mounted", "SHOWN"].contains(&line) || !is_shout(line),
                "{message}"
            );
        }
        let victim = self.at("own/victim");
        assert_eq!(fs::read_to_string(&victim).expect("read"), "as it was\n");
        let meta = fs::metadata(&victim).expect("stat the file");
        assert_eq!(meta.mode() & 0o7777, 0o600, "{message}");
        assert!(meta.mtime() > 1_600_000_000, "{message}");
        let names = fs::read_dir(self.at("own")).expect("list").count();
        assert_eq!(names, 1, "{message}");
        assert_eq!(output.status.code(), Some(0), "{message}");
    }

    /// Gives the victim to another user, and returns true if that user can reach the folder.
    fn given_to_user(&self) -> bool {
        for name in ["own", "own/victim"] {
            chown(self.at(name), Some(USER), Some(USER)).expect("give away");
        }
        let reached = Command::new("setpriv")
            .args(as_user().iter().skip(1))
            .args(["test", "-r"])
            .arg(self.at("spec.toml"))
            .status();
        reached.expect("run setpriv").success()
    }
}

fn is_shout(line: &str) -> bool {
    line.chars().all(|c| c.is_ascii_uppercase() || c == ' ')
}

fn as_user() -> [&'static str; 4] {
    [
        "setpriv",
        "--reuid=54321",
        "--regid=54321",
        "--clear-groups",
    ]
}

/// Disables user namespaces, as on a host that allows none: only Landlock is left.
const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \"$@\"";

/// Disables Landlock like a kernel without it: its first call fails with ENOSYS.
const NO_LANDLOCK: &str = "import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050026), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *s) for s in steps))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])";

fn without_namespaces() -> Vec<&'static str> {
    vec![
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        NO_NAMESPACES,
        "sh",
    ]
}

/// Returns true if this host lets the caller create a user namespace, which some of these tests
/// need, or take away.
fn can_map_users() -> bool {
    let tried = Command::new("unshare")
        .args(["--user", "--map-root-user", "true"])
        .status();
    let can = tried.is_ok_and(|s| s.success());
    if !can {
        eprintln!("skipped: no user namespaces here");
    }
    can
}

#[test]
fn a_guest_that_remounts_or_mounts_anew_cannot_write_files_of_its_caller() {
    let scene = Scene::new();
    scene.assert_unharmed(&scene.attack(&[]));
}

#[test]
fn a_guest_of_an_ordinary_user_has_no_more_access_than_that_user() {
    let scene = Scene::new();
    if !is_root() || !scene.given_to_user() {
        eprintln!("skipped: needs root, and a build folder that others reach");
        return;
    }
    let output = scene.attack(&as_user());
    scene.assert_unharmed(&output);
    assert!(
        !text(&output.stdout).contains("SHOWN"),
        "{}",
        text(&output.stdout)
    );
    assert!(text(&output.stderr).contains("secret: Permission denied"));
}

#[test]
fn landlock_alone_keeps_the_files_and_their_attributes() {
    let scene = Scene::new();
    if can_map_users() {
        scene.assert_unharmed(&scene.attack(&without_namespaces()));
    }
}

#[test]
fn the_mount_namespace_alone_keeps_the_files() {
    if !can_map_users() {
        return;
    }
    let scene = Scene::new();
    scene.assert_unharmed(&scene.attack(&["python3", "-c", NO_LANDLOCK]));
}

#[test]
fn a_host_without_isolation_refuses_to_run_programs_by_default() {
    let scene = Scene::new();
    if !can_map_users() {
        return;
    }
    let mut before = without_namespaces();
    before.extend(["python3", "-c", NO_LANDLOCK]);
    let output = scene.attack(&before);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(
        message.contains("--allow-host-writes") && message.contains("Landlock"),
        "{message}"
    );
    let insists = Command::new(before[0])
        .args(&before[1..])
        .arg(self::pathtwin().get_program())
        .env("PATHTWIN_KERNEL", scene.at("linux"))
        .env("PATHTWIN_GUEST", scene.at("pathtwin-guest"))
        .args(["lab", "exec", "--allow-host-writes"])
        .arg(scene.at("spec.toml"))
        .args(["--on", "client", "--", "true"])
        .output()
        .expect("run pathtwin");
    assert_eq!(insists.status.code(), Some(0), "{}", text(&insists.stderr));
    assert!(
        text(&insists.stderr).contains("can write"),
        "{}",
        text(&insists.stderr)
    );
}

/// A line of a process's status.
fn status(pid: i32, key: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix(key));
    line.unwrap_or_default()
        .trim_start_matches(':')
        .trim()
        .to_owned()
}

#[test]
fn cells_and_plans_run_under_the_same_isolation() {
    let scene = Scene::new();
    let spec = scene.at("spec.toml");
    let commands: [&[&str]; 2] = [
        &["lab", "run", "--no-cache", "--set", "duration=60s"],
        &["measure", "--quick", "--lab"],
    ];
    for words in commands {
        let mut child = pathtwin()
            .args(words)
            .arg(&spec)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("run pathtwin");
        let seen = (0..200).find_map(|_| {
            thread::sleep(Duration::from_millis(20));
            let found = guests_of(child.id());
            // Before its exec it is not yet isolated; after it, it has the name of the image.
            let first = *found.first()?;
            (status(first, "Name") == "linux").then_some(first)
        });
        let seen = seen.expect("a guest");
        let facts = ["CapPrm", "CapEff", "CapBnd", "NoNewPrivs"].map(|k| status(seen, k));
        let mounts = fs::read_to_string(format!("/proc/{seen}/mountinfo")).expect("its mounts");
        child.kill().expect("end it");
        child.wait().expect("wait for it");
        let none = "0000000000000000";
        if is_root() {
            assert_eq!(facts[2], none, "{words:?}");
        }
        assert_eq!(
            [&*facts[0], &facts[1], &facts[3]],
            [none, none, "1"],
            "{words:?}"
        );
        assert_read_only(&mounts);
    }
}

/// Every mount is read-only but the cell's folder (proc_pid_mountinfo(5): the fifth field is the
/// place, the sixth begins with `ro` or `rw`). A host without namespaces shows its own mounts, and
/// is not judged.
fn assert_read_only(mounts: &str) {
    let own = fs::read_to_string("/proc/self/mountinfo").expect("own mounts");
    if mounts == own {
        eprintln!("skipped: no mount namespace here");
        return;
    }
    for line in mounts.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let folder = Path::new(fields[4]);
        let own = folder.starts_with("/dev/shm") && folder.components().count() > 3;
        assert_eq!(fields[5].starts_with("rw"), own, "{line}");
    }
}
