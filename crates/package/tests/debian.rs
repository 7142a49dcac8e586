//! Tests of the Debian package, installed by dpkg into an overlay of this system, whose upper layer
//! shows leftovers. `make build` builds the packed programs.

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
        let package = package();
        let path = folder.path().join(&package.name);
        std::fs::write(&path, &package.bytes).expect("write the package");
        (folder, path)
    });
    path
}

fn package() -> deb::Package {
    let programs = ["pathtwin", "pathtwin-guest"].map(|name| {
        let path = common::targets().join("release").join(name);
        Program::read(&path).unwrap_or_else(|e| panic!("{e}; run: make build"))
    });
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
    deb::package(common, &programs, &extra).expect("pack")
}

#[test]
fn lintian_finds_nothing() {
    tool("lintian");
    let output = Command::new("lintian")
        .args(["--allow-root", "--fail-on", "error,warning"])
        .arg(packed())
        .output()
        .expect("run lintian");
    let text = text(&output.stdout);
    assert!(output.status.success() && text.is_empty(), "{text}");
}

#[test]
fn packed_twice_it_is_the_same_and_dpkg_reads_it() {
    let again = package();
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

#[test]
fn installed_measures_and_purged_leaves_the_users_files() {
    if !is_root() {
        eprintln!("skipped: installing needs root");
        return;
    }
    let output = Command::new("unshare")
        .args(["--mount", "--net", "--pid", "--fork", "--kill-child", "sh"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debian.sh"))
        .arg(packed())
        .output()
        .expect("run unshare");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}
