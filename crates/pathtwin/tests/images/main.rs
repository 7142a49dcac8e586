//! Images that are built, passed over, packed for a release and imported: a trial boot decides.

#![allow(clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod mirror;
mod passed_over;
mod release;

use std::path::{Path, PathBuf};

use common::{kernel, pathtwin, text};

/// The image of the lab, which boots, with the name of its root's file system changed: its kernel
/// starts, finds no root and panics.
fn without_root() -> Vec<u8> {
    const NAME: &[u8] = b"\0hostfs\0";
    let mut image = std::fs::read(kernel()).expect("read the image");
    let places: Vec<usize> = (0..image.len() - NAME.len())
        .filter(|at| image[*at..].starts_with(NAME))
        .collect();
    assert!(!places.is_empty(), "no name of a file system in the image");
    for at in places {
        image[at + 1..at + 7].copy_from_slice(b"nofile");
    }
    image
}

/// An empty folder for what several tests use. It stays until the next run, since nothing that is
/// shared is dropped.
fn shared_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("remove what an earlier run left");
    }
    std::fs::create_dir_all(&folder).expect("make a folder");
    folder
}

/// The images of a cache, as `lab kernel list` shows them.
fn images(cache: &Path) -> String {
    let output = pathtwin()
        .env("PATHTWIN_CACHE", cache)
        .args(["lab", "kernel", "list"])
        .output()
        .expect("list the images");
    text(&output.stdout)
}
