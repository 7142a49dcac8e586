//! Sources whose image does not boot on this host: the next one is taken, and the reason is said.

use crate::{
    common::{kernel, text},
    images,
    mirror::mirror,
};

/// The best series of the mirror builds, and its kernel panics at the trial boot; that of the next
/// one boots. Neither name nor reason of the first is lost, and nothing of it is an image.
#[test]
fn a_series_that_cannot_boot_here_is_passed_over_with_the_reason() {
    let Some(mirror) = mirror() else { return };
    let cache = tempfile::tempdir().expect("make a folder");
    let output = mirror.build(cache.path(), &[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("lab kernel 6.12.200 built"), "{said}");
    let reason = said
        .lines()
        .find(|line| line.contains("not used") && line.contains("linux-source-7.2 7.2.14-1"))
        .unwrap_or_else(|| panic!("{said}"));
    let why = "the image of Linux 7.2.14 does not boot on this host: ";
    assert!(reason.contains(why), "{said}");
    assert!(
        said.contains("/debian pool"),
        "why not the pinned one: {said}"
    );
    let list = images(cache.path());
    assert!(list.starts_with("* 6.12.200"), "{list}");
    assert_eq!(list.lines().count(), 1, "{list}");
    let built = std::fs::read(text(&output.stdout).trim()).expect("read the image");
    assert!(
        built == std::fs::read(kernel()).expect("read it"),
        "other bytes"
    );
}

#[test]
fn an_image_that_does_not_boot_is_not_called_built() {
    let Some(mirror) = mirror() else { return };
    let cache = tempfile::tempdir().expect("make a folder");
    let output = mirror.build(cache.path(), &["--series", "7.2"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in [
        "no tested kernel source that builds and boots here",
        "linux-source-7.2 7.2.14-1: the image of Linux 7.2.14 does not boot on this host",
        "remedy: ",
    ] {
        assert!(said.contains(part), "no {part} in:\n{said}");
    }
    assert!(
        !said.contains("built\n") && output.stdout.is_empty(),
        "{said}"
    );
    assert!(images(cache.path()).is_empty(), "{}", images(cache.path()));
}

/// An image of a named series does not become the usual one.
#[test]
fn a_series_is_built_beside_the_usual_image() {
    let Some(mirror) = mirror() else { return };
    let cache = tempfile::tempdir().expect("make a folder");
    for how in ["built", "already built"] {
        let output = mirror.build(cache.path(), &["--series", "6.12"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(
            said.contains(&format!("lab kernel 6.12.200 {how}")),
            "{said}"
        );
    }
    let list = images(cache.path());
    assert!(list.trim_start().starts_with("6.12.200"), "{list}");
    assert_eq!(list.lines().count(), 1, "{list}");
}
