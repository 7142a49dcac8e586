//! Tests with the real apt, and long tests that build a kernel.

mod archive;
mod long;

use archive::Archive;

use super::cache::Cache;
use super::find::locate_in;
use super::run::Runner;
use super::search::Search;
use super::tools::{find_in, path_folders};

fn has(programs: &[&str]) -> bool {
    let missing = programs
        .iter()
        .find(|name| find_in(name, &path_folders()).is_none());
    if let Some(name) = missing {
        eprintln!("not tested: there is no {name} here");
    }
    missing.is_none()
}

const APT: &[&str] = &["apt-get", "apt-cache", "dpkg-deb", "gpg", "gpgconf"];

#[test]
fn a_signed_archive_is_used() {
    if !has(APT) {
        return;
    }
    let archive = Archive::new();
    archive.sign();
    let deb = archive.fetch().unwrap();
    assert!(deb.starts_with(b"!<arch>"));
}

#[test]
fn an_archive_out_of_date_is_reported_and_its_other_packages_are_not_used() {
    if !has(APT) {
        return;
    }
    let archive = Archive::new();
    let release = archive.dists().join("Release");
    let text = std::fs::read_to_string(&release).unwrap();
    let text = text.replace(
        "SHA256:",
        "Valid-Until: Fri, 02 Jan 2026 00:00:00 UTC\nSHA256:",
    );
    std::fs::write(&release, text).unwrap();
    archive.sign();
    let runner = Runner::new(archive.dir.path().join("log"), None).unwrap();
    let mut search = Search::default();
    let pinned = search.query(&runner, archive.repository()).unwrap();
    assert!(!pinned);
    assert!(search.candidates(true).is_empty());
    let [rejection] = search.rejected.as_slice() else {
        panic!("{:?}", search.rejected);
    };
    let why = rejection.to_string();
    assert!(
        why.contains("out of date") && why.contains("9.8.7-1"),
        "{why}"
    );
}

/// Queries the real archives: `cargo test -p pathtwin-kernel --lib -- --ignored pinned --nocapture`
#[test]
#[ignore = "queries the Debian archive"]
fn the_pinned_source_can_be_downloaded() {
    let dir = tempfile::tempdir().unwrap();
    let runner = Runner::new(dir.path().join("log"), None).unwrap();
    let mut on_archive = |place: &str| eprintln!("{place}");
    let mut search = Search::new(
        &runner,
        &dir.path().join("apt"),
        dir.path(),
        &mut on_archive,
    )
    .unwrap();
    let candidates = search.candidates(false);
    eprintln!("{candidates:#?}\n{:#?}", search.rejected);
    let (_, name) = candidates.first().unwrap().describe();
    assert_eq!(name, "linux-source-7.2 7.2.13-1");
}

#[test]
fn an_unsigned_archive_is_refused() {
    if !has(APT) {
        return;
    }
    let archive = Archive::new();
    archive.sign();
    std::fs::remove_file(archive.dists().join("InRelease")).unwrap();
    let error = archive.fetch().unwrap_err().to_string();
    assert!(error.contains("not signed"), "{error}");
}

#[test]
fn a_changed_index_is_refused() {
    if !has(APT) {
        return;
    }
    let archive = Archive::new();
    archive.sign();
    archive.fetch().unwrap();
    let file = archive.dists().join("InRelease");
    let text = std::fs::read_to_string(&file)
        .unwrap()
        .replace("Origin: test", "Origin: evil");
    std::fs::write(&file, text).unwrap();
    // Even though valid lists of the same archive were read just before.
    let error = archive.fetch().unwrap_err().to_string();
    assert!(
        error.contains("BADSIG") || error.contains("not signed") || error.contains("signature"),
        "{error}"
    );
}

#[test]
fn a_changed_package_is_refused() {
    if !has(APT) {
        return;
    }
    let archive = Archive::new();
    archive.sign();
    let deb = archive
        .dir
        .path()
        .join("pool/linux-source-9.8_9.8.7-1_all.deb");
    let mut bytes = std::fs::read(&deb).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&deb, bytes).unwrap();
    let error = archive.fetch().unwrap_err().to_string();
    assert!(error.contains("Hash Sum mismatch"), "{error}");
}

#[test]
fn an_archive_signed_by_another_key_is_refused() {
    if !has(APT) {
        return;
    }
    let (archive, other) = (Archive::new(), Archive::new());
    archive.sign();
    other.sign();
    std::fs::copy(other.keyring(), archive.keyring()).unwrap();
    let error = archive.fetch().unwrap_err().to_string();
    assert!(
        error.contains("NO_PUBKEY") || error.contains("not signed"),
        "{error}"
    );
}

#[test]
fn an_empty_cache_names_the_command_to_run() {
    let dir = tempfile::tempdir().unwrap();
    let error = locate_in(&Cache::at(dir.path())).unwrap_err();
    assert!(
        error.to_string().contains("pathtwin lab kernel build"),
        "{error}"
    );
    assert_eq!(error.exit_code(), 3);
}
