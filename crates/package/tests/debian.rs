//! Tests of the Debian packages, installed by dpkg into an overlay of this system, whose upper
//! layer shows leftovers; the one for arm64 is unpacked and its program run in QEMU. `make build`
//! builds the packed programs, `make dist` that for arm64.

#![allow(clippy::expect_used)]

mod common;

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use common::{checkout, is_root, text, tool};
use package::{Epoch, deb, program::Program};

const EPOCH: Epoch = Epoch(1_790_000_000);

/// Programs of `make build` as a package, made once.
fn packed() -> &'static Path {
    static PACKED: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PACKED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("make a folder");
        let package = package(&built());
        let path = folder.path().join(&package.name);
        std::fs::write(&path, &package.bytes).expect("write the package");
        (folder, path)
    });
    path
}

fn built() -> [Program; 2] {
    ["pathtwin", "pathtwin-guest"].map(|name| {
        let path = common::targets().join("release").join(name);
        Program::read(&path).unwrap_or_else(|e| panic!("{e}; run: make build"))
    })
}

fn package(programs: &[Program]) -> deb::Package {
    let extra = [("sbom.cdx.json".to_owned(), b"{}".to_vec())];
    let extra = [
        &extra[..],
        &[("third-party-licences".to_owned(), b"x".to_vec())],
    ]
    .concat();
    let common = deb::Common {
        checkout: &checkout(),
        maintainer: deb::MAINTAINER,
        epoch: EPOCH,
        level: 0,
    };
    deb::package(common, programs, &extra).expect("pack")
}

#[test]
fn lintian_finds_nothing() {
    tool("lintian");
    let output = Command::new("lintian")
        .args(["--allow-root", "--fail-on", "error,warning"])
        .arg(packed())
        .output()
        .expect("run lintian");
    let said = text(&output.stdout);
    // Lintian of Ubuntu 22.04 counts what is overridden, in a note.
    let tags = said.lines().filter(|line| !line.starts_with("N: "));
    assert!(output.status.success() && tags.count() == 0, "{said}");
}

#[test]
fn packed_twice_it_is_the_same_and_dpkg_reads_it() {
    let again = package(&built());
    assert!(std::fs::read(packed()).expect("read it") == again.bytes);
    let output = Command::new("dpkg-deb")
        .arg("--info")
        .arg(packed())
        .output()
        .expect("run dpkg-deb");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let about = text(&output.stdout);
    assert!(about.contains("Architecture: amd64"), "{about}");
    assert!(about.contains("Depends: libc6 (>= 2."), "{about}");
}

/// Runs a script of this folder with a package in namespaces of its own. One that hangs is ended.
fn in_namespaces(script: &str, arguments: &[&Path]) {
    let output = Command::new("timeout")
        .args(["--signal=KILL", "300", "unshare", "--mount", "--net"])
        .args(["--pid", "--fork", "--kill-child", "sh"])
        .arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests")
                .join(script),
        )
        .args(arguments)
        .output()
        .expect("run unshare");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}

#[test]
fn installed_measures_and_purged_leaves_the_users_files() {
    if !is_root() {
        eprintln!("skipped: installing needs root");
        return;
    }
    in_namespaces("debian.sh", &[packed()]);
}

/// Returns true if this kernel has control groups of version 2, which a booted systemd needs.
fn has_cgroup2() -> bool {
    let systems = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    systems.lines().any(|line| line.ends_with("\tcgroup2"))
}

#[test]
fn its_services_run_under_a_booted_systemd_are_watched_upgraded_and_purged() {
    if !is_root() || !has_cgroup2() {
        eprintln!("skipped: booting systemd needs root and cgroup2");
        return;
    }
    tool("curl");
    in_namespaces("booted.sh", &[packed()]);
}

#[test]
fn the_one_for_arm64_unpacks_to_a_program_that_measures_in_qemu() {
    let program = common::targets().join("aarch64-unknown-linux-gnu/release/pathtwin");
    if !is_root() || !program.exists() {
        eprintln!("skipped: needs root, and the program for arm64, which make dist builds");
        return;
    }
    tool("qemu-aarch64");
    let folder = tempfile::tempdir().expect("make a folder");
    let package = package(&[Program::read(&program).expect("read it")]);
    let path = folder.path().join(&package.name);
    std::fs::write(&path, &package.bytes).expect("write the package");
    let native = common::targets().join("release/pathtwin");
    in_namespaces("arm64.sh", &[&path, &native]);
}
