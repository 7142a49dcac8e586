//! Tests of the packages for OpenWrt: read by GNU tar, like opkg, installed into a root like a
//! router's, and by the real apk if available. `make agent` builds the packed programs.

#![allow(clippy::expect_used)]

mod common;

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use common::{checkout, is_root, targets, text, tool};
use package::{
    Epoch, apk, formats,
    openwrt::{self, Router},
    tree::Node,
};

const EPOCH: Epoch = Epoch(1_790_000_000);

fn agent(processor: &str) -> PathBuf {
    targets().join(format!("agent-{processor}/pathtwin"))
}

fn router(processor: &str) -> Router {
    openwrt::router(&checkout(), &agent(processor))
        .unwrap_or_else(|e| panic!("{e}; run: make agent"))
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("{program}: {e}"));
    let failed = || {
        format!(
            "{program}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        )
    };
    assert!(output.status.success(), "{}", failed());
    output
}

#[test]
fn each_architecture_has_a_package_of_both_kinds_and_twice_the_same() {
    for processor in ["x86_64", "aarch64"] {
        // Compressing takes as long as the program is large.
        let mut router = router(processor);
        router.tree.program("usr/bin/pathtwin", vec![1; 100_000]);
        let packages = formats::packages(&router, EPOCH).expect("pack");
        let architectures = openwrt::architectures(router.machine);
        assert_eq!(packages.len(), 2 * architectures.len());
        let again = formats::packages(&router, EPOCH).expect("pack again");
        for (package, other) in packages.iter().zip(&again) {
            assert!(package.name == other.name && package.bytes == other.bytes);
            // The formats of `apk` and `opkg`: deflated containers, and gzip.
            let head: &[u8] = if package.name.ends_with(".apk") {
                b"ADBd"
            } else {
                b"\x1f\x8b"
            };
            assert!(package.bytes.starts_with(head), "{}", package.name);
        }
    }
}

#[test]
fn a_program_with_shared_libraries_is_refused() {
    let own = std::env::current_exe().expect("this program");
    let refused = openwrt::router(&checkout(), &own).map(drop);
    assert!(refused.is_err_and(|e| e.to_string().contains("not static")));
}

/// Unpacks like opkg: the outer archive, then the data into the root.
#[test]
fn an_ipk_unpacks_to_its_files_and_control() {
    let router = router("aarch64");
    let package = package::ipk::package(&router, "aarch64_generic", EPOCH).expect("pack");
    let folder = tempfile::tempdir().expect("make a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("package.ipk"), &package.bytes).expect("write it");
    run("tar", &["-xzf", "package.ipk"], folder.path());
    assert_eq!(fs::read(at("debian-binary")).expect("read"), b"2.0\n");
    for part in ["data", "control"] {
        fs::create_dir(at(part)).expect("make a folder");
        run(
            "tar",
            &["-xzf", &format!("{part}.tar.gz"), "-C", part],
            folder.path(),
        );
    }
    for (path, node) in router.tree.iter() {
        if let Node::File { bytes, .. } = node {
            assert!(
                &fs::read(at("data").join(path)).expect("read") == bytes,
                "{path}"
            );
        }
    }
    let control = fs::read_to_string(at("control/control")).expect("read");
    assert!(control.contains("\nArchitecture: aarch64_generic\n"));
    let edited = fs::read_to_string(at("control/conffiles")).expect("read");
    assert_eq!(edited, "/etc/config/pathtwin\n");
}

#[test]
fn installed_on_a_router_measures_and_removed_leaves_the_users_files() {
    if !is_root() {
        eprintln!("skipped: installing needs root");
        return;
    }
    if !router_shell() {
        return;
    }
    let package = package::ipk::package(&router("x86_64"), "x86_64", EPOCH).expect("pack");
    let folder = tempfile::tempdir().expect("make a folder");
    fs::write(folder.path().join("pathtwin.ipk"), &package.bytes).expect("write it");
    on_a_router(&["pathtwin.ipk"], folder.path());
}

/// Whether BusyBox's shell runs the programs of the router, as on routers. That of Debian's
/// `busybox-static` prefers commands of its own, so the log of the test would stay empty.
fn router_shell() -> bool {
    tool("busybox");
    let typed = Command::new("busybox")
        .args(["ash", "-c", "type ls"])
        .output();
    let found = typed.expect("run busybox");
    let fits = found.stdout.contains(&b'/');
    if !fits {
        eprintln!(
            "skipped: the shell of this busybox runs none of the router's programs; install busybox"
        );
    }
    fits
}

/// Installs, uses, upgrades and removes packages of a folder in a root like a router's.
fn on_a_router(arguments: &[&str], folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openwrt.sh");
    let script = script.to_str().expect("a path");
    let namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child"];
    let command = [&namespaces[..], &["sh", script], arguments].concat();
    run("unshare", &command, folder);
}

/// A separate reader: the offset of each file's contents leads to its name.
#[test]
fn the_blocks_of_an_apk_are_whole() {
    let router = router("x86_64");
    let package = apk::package(&router, "x86_64", EPOCH).expect("pack");
    let mut plain = Vec::new();
    flate2::read::DeflateDecoder::new(&package.bytes[4..])
        .read_to_end(&mut plain)
        .expect("inflate");
    assert!(plain == apk::container(&router, "x86_64", EPOCH));
    assert_eq!(&plain[..8], b"ADB.pckg");
    let (mut at, mut kinds, mut sizes) = (8, Vec::new(), Vec::new());
    while at < plain.len() {
        let word: [u8; 4] = plain[at..at + 4].try_into().expect("four bytes");
        let word = u32::from_le_bytes(word);
        let size = usize::try_from(word & 0x3fff_ffff).expect("a size");
        kinds.push(word >> 30);
        sizes.push(size);
        at += size.next_multiple_of(8);
    }
    assert_eq!(at, plain.len());
    // Values, then a block for each of the four files and three lists.
    assert_eq!(kinds, [0, 2, 2, 2, 2, 2, 2, 2]);
    let program = fs::metadata(agent("x86_64")).expect("its size").len();
    assert!(sizes.iter().any(|size| *size as u64 == program + 12));
}

/// `apk` of apk-tools 3, where it is installed: it is in no registry that the set-up uses.
fn real_apk() -> Option<String> {
    let apk = std::env::var("PATHTWIN_APK").unwrap_or_else(|_| "apk".to_owned());
    let found = Command::new(&apk).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no apk of apk-tools 3 (PATHTWIN_APK names one)");
    }
    found.then_some(apk)
}

/// With its scripts and services, as the test of the `.ipk` does.
#[test]
fn apk_installs_upgrades_and_removes_on_a_router() {
    let Some(apk) = real_apk() else { return };
    if !is_root() {
        eprintln!("skipped: installing needs root");
        return;
    }
    if !router_shell() {
        return;
    }
    let folder = tempfile::tempdir().expect("make a folder");
    // The newer one has another default, as a new version may.
    let (first, mut newer) = (router("x86_64"), router("x86_64"));
    let config = first
        .tree
        .files()
        .find(|(path, _)| *path == openwrt::CONFIG);
    let config = [config.expect("a config").1, b"# newer\n"].concat();
    newer.tree.file(openwrt::CONFIG, config);
    for (name, router) in [("pathtwin.apk", &first), ("newer.apk", &newer)] {
        let package = apk::package(router, "x86_64", EPOCH).expect("pack");
        fs::write(folder.path().join(name), &package.bytes).expect("write it");
    }
    on_a_router(&["pathtwin.apk", "newer.apk", &apk], folder.path());
}

#[test]
fn apk_installs_keeps_edited_files_and_removes() {
    let Some(apk) = real_apk() else { return };
    let folder = tempfile::tempdir().expect("make a folder");
    let here = folder.path();
    let package = apk::package(&router("x86_64"), "x86_64", EPOCH).expect("pack");
    fs::write(here.join("pathtwin.apk"), &package.bytes).expect("write it");
    run(
        &apk,
        &[
            "mkpkg",
            "--info",
            "name:libc",
            "--info",
            "version:1-r1",
            "--info",
            "arch:noarch",
            "--output",
            "libc.apk",
        ],
        here,
    );
    let root = here.join("root");
    let root = root.to_str().expect("a path");
    let apply = |command: &[&str]| {
        let common = [
            "--root",
            root,
            "--allow-untrusted",
            "--no-network",
            "--no-logfile",
            "--no-scripts",
            "--no-cache",
        ];
        run(&apk, &[command, &common[..]].concat(), here)
    };
    let added = [
        "add",
        "--initdb",
        "--arch",
        "x86_64",
        "./libc.apk",
        "./pathtwin.apk",
    ];
    apply(&added);
    let at = |path: &str| Path::new(root).join(path);
    let program = at("usr/bin/pathtwin");
    let version = run(program.to_str().expect("a path"), &["--version"], here);
    assert!(text(&version.stdout).starts_with("pathtwin "));
    let dump = text(&run(&apk, &["adbdump", "pathtwin.apk"], here).stdout);
    for line in [
        "name: pathtwin",
        "arch: x86_64",
        "- libc",
        "post-upgrade: |",
        "mode: 0755",
    ] {
        assert!(dump.contains(line), "{line} is not in {dump}");
    }
    apply(&["del", "pathtwin"]);
    assert!(!program.exists() && !at("lib/apk/packages/pathtwin.list").exists());
    assert!(!at("etc/init.d").exists() && !at("etc/config/pathtwin").exists());
}

/// The scripts with a router's `/etc/init.d/pathtwin` that records its arguments.
#[test]
fn scripts_enable_once_restart_after_an_upgrade_and_do_nothing_in_an_image() {
    let folder = tempfile::tempdir().expect("make a folder");
    let log = folder.path().join("log");
    let init = folder.path().join("init");
    fs::write(
        &init,
        format!("#!/bin/sh\necho \"$1\" >>{}\n", log.display()),
    )
    .expect("write");
    run("chmod", &["755", "init"], folder.path());
    let asked = |script: &str, variable: &str| {
        let own = checkout().join("packaging/openwrt").join(script);
        let own = fs::read_to_string(own).expect("read the script");
        let own = own.replace("/etc/init.d/pathtwin", init.to_str().expect("a path"));
        let _ = fs::remove_file(&log);
        let output = run("env", &[variable, "sh", "-c", &own], folder.path());
        assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
        let asked = fs::read_to_string(&log).unwrap_or_default();
        asked.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(asked("postinst", "A=1"), ["enable", "restart"]);
    assert_eq!(asked("postinst", "PKG_UPGRADE=1"), ["restart"]);
    assert_eq!(asked("prerm", "A=1"), ["stop", "disable"]);
    assert_eq!(asked("prerm", "PKG_UPGRADE=1"), ["stop"]);
    for script in ["postinst", "prerm"] {
        assert!(asked(script, "IPKG_INSTROOT=/image").is_empty());
    }
}
