//! Tests of the container image, built by buildah from the static program of `make agent`, and
//! measured against.

#![allow(clippy::expect_used)]

mod common;

use std::{path::Path, process::Command};

use common::{checkout, is_root, targets, text, tool};

#[test]
fn the_image_serves_as_nobody_and_is_measured() {
    if !is_root() {
        eprintln!("skipped: namespaces for the image need root");
        return;
    }
    tool("buildah");
    let folder = targets().join("agent-x86_64");
    assert!(folder.exists(), "no {}; run: make agent", folder.display());
    let output = Command::new("unshare")
        .args(["--mount", "--net", "--pid", "--fork", "--kill-child", "sh"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/container.sh"))
        .arg(checkout().join("packaging/container/Containerfile"))
        .arg(folder.canonicalize().expect("its place"))
        .output()
        .expect("run unshare");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}
