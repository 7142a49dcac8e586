//! Builds of whole kernels.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::build::{BuildOptions, build_in};
use crate::cache::Cache;
use crate::error::KernelError;
use crate::image::{Image, Meta};

/// The source for the long tests: `PATHTWIN_TEST_KERNEL_SOURCE`, else one from an archive.
fn long_build(base: &Path, source: Option<PathBuf>) -> Image {
    let options = BuildOptions {
        source,
        ..BuildOptions::default()
    };
    let built = build_in(
        &Cache::at(base),
        &options,
        &mut |_| Ok(()),
        &mut |progress| {
            if progress.total == 0 || progress.done % 100 == 0 {
                eprintln!(
                    "{:?} {} {}/{}",
                    progress.stage, progress.detail, progress.done, progress.total
                );
            }
        },
    )
    .unwrap();
    assert!(built.fresh);
    built.image.verify().unwrap();
    built.image
}

fn assert_describes(found: &Meta, known: &Meta) {
    let expected = Meta {
        source: None,
        recipe: None,
        inputs: None,
        compiler: None,
        patches: Vec::new(),
        config: found.config.clone(),
        ..known.clone()
    };
    assert_eq!(*found, expected);
    assert_eq!(found.config.trim_end(), known.config.trim_end());
}

/// Two builds in two folders give the same bytes. Takes two kernel builds:
/// `cargo test -p pathtwin-kernel --lib -- --ignored tests::long::two_builds --nocapture`
#[test]
#[ignore = "builds two kernels"]
fn two_builds_give_the_same_bytes() {
    let source = std::env::var_os("PATHTWIN_TEST_KERNEL_SOURCE").map(PathBuf::from);
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let deeper = two.path().join("another/much/longer/path");
    std::fs::create_dir_all(&deeper).unwrap();
    let first = long_build(one.path(), source.clone());
    let source = source.or_else(|| {
        let mut kept = std::fs::read_dir(Cache::at(one.path()).downloads())
            .unwrap()
            .flatten();
        kept.next().map(|entry| entry.path())
    });
    let second = long_build(&deeper, source);
    assert_eq!(first.sha256, second.sha256);
    let meta = first.meta.unwrap();
    assert!(meta.seeded && meta.hz == Some(1000));
    // An image elsewhere is described the same.
    let found = Image::open(&second.path).unwrap().meta.unwrap();
    assert_eq!(found.config, meta.config);
}

/// Bug: Ctrl-C while the new image was tried was taken for its failure, and the next kernel was
/// built.
#[test]
#[ignore = "builds a kernel"]
fn ctrl_c_at_the_trial_starts_no_other_build() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let base = tempfile::tempdir().unwrap();
    let options = BuildOptions {
        cancel: Some(&STOP),
        ..BuildOptions::default()
    };
    let mut trials = 0;
    let error = build_in(
        &Cache::at(base.path()),
        &options,
        &mut |_| {
            trials += 1;
            STOP.store(true, Ordering::Relaxed);
            Err("stopped".into())
        },
        &mut |_| (),
    )
    .unwrap_err();
    assert!(matches!(error, KernelError::Cancelled), "{error}");
    assert_eq!((trials, error.exit_code()), (1, 130));
}

/// Any other source builds too, with a list of the options that it lacks:
/// `PATHTWIN_TEST_KERNEL_SOURCE=FILE cargo test -p pathtwin-kernel --lib -- --ignored
/// tests::long::a_given --nocapture`
///
/// With `PATHTWIN_TEST_KERNEL_KEEP=FILE` the image is stored there.
#[test]
#[ignore = "builds a kernel"]
fn a_given_source_builds() {
    let Some(source) = std::env::var_os("PATHTWIN_TEST_KERNEL_SOURCE") else {
        panic!("PATHTWIN_TEST_KERNEL_SOURCE names no source");
    };
    let cache = tempfile::tempdir().unwrap();
    let image = long_build(cache.path(), Some(source.into()));
    let meta = image.meta.clone().unwrap();
    assert!(meta.seeded && meta.hz == Some(1000));
    eprintln!(
        "Linux {} lacks {:?}\n{:?}",
        meta.version, meta.missing_options, meta.patches
    );
    // Without its document an image has the same description, except for its origin.
    let alone = cache.path().join("alone");
    std::fs::copy(&image.path, &alone).unwrap();
    assert_describes(&Image::open(&alone).unwrap().meta.unwrap(), &meta);
    if let Some(keep) = std::env::var_os("PATHTWIN_TEST_KERNEL_KEEP") {
        std::fs::copy(&image.path, keep).unwrap();
    }
}

/// The description of an image: `PATHTWIN_KERNEL=FILE cargo test ... tests::long::an_image
/// --nocapture`
#[test]
#[ignore = "needs a kernel"]
fn an_image_describes_itself() {
    let image = crate::locate().unwrap();
    let meta = image.meta.unwrap();
    assert!(meta.seeded && meta.hz == Some(1000), "{meta:?}");
    eprintln!(
        "{} {} {:?}\n{:?}",
        image.sha256, meta.version, meta.congestion_controls, meta.qdiscs
    );
    eprintln!(
        "{:?} seccomp {} simd {} lacks {:?}",
        meta.tunnels, meta.seccomp, meta.simd_crypto, meta.missing_options
    );
}
