//! Tests with the real apt, and long tests that build a kernel.

mod archive;
mod long;

use archive::Archive;

use super::cache::Cache;
use super::find::locate_in;
use super::pool;
use super::run::Runner;
use super::search::Search;
use super::source::hash_file;
use super::tested::{PINNED, Tested};
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
    let mut search = Search::default();
    let pinned = search.pinned(&runner, dir.path(), &mut on_archive).unwrap();
    eprintln!("{pinned:#?}\n{:#?}", search.rejected);
    let (_, name) = pinned.unwrap().describe();
    assert_eq!(name, "linux-source-7.2 7.2.13-1");
    search
        .query_all(&runner, &dir.path().join("apt"), &mut on_archive)
        .unwrap();
    eprintln!("{:#?}\n{:#?}", search.candidates(false), search.rejected);
}

/// Ubuntu 22.04 has a `debian-archive-keyring` that is older than the keys of Debian 12, so that no
/// suite could be read there, and the pinned source could not be downloaded.
#[test]
fn the_pinned_package_is_known_by_its_hash_on_a_host_without_the_keys_of_the_archive() {
    if !has(APT) {
        return;
    }
    let archive = Archive::new();
    let (root, deb) = (archive.dir.path(), archive.package());
    let pool = root.join("pool/main/l/linux");
    std::fs::create_dir_all(&pool).unwrap();
    std::fs::copy(&deb, pool.join(deb.file_name().unwrap())).unwrap();
    let package = |sha256: String| Tested {
        package: "linux-source-9.8",
        version: "9.8.7-1",
        sha256: sha256.leak(),
    };
    let runner = Runner::new(root.join("log"), None).unwrap();
    let (uri, folder) = (format!("copy:{}", root.display()), root.join("got"));
    let get = |package: &Tested| pool::download(&runner, &uri, package, &folder);

    let right = package(hash_file(&deb).unwrap());
    let got = get(&right).unwrap();
    assert_eq!(std::fs::read(&got).unwrap(), std::fs::read(&deb).unwrap());
    assert_eq!(pool::kept(&right, &folder), Some(got.clone()));

    std::fs::remove_file(got).unwrap();
    let error = get(&package("00".repeat(32))).unwrap_err().to_string();
    // Of apt 2.6 and 3.0.
    let reasons = ["Hash Sum mismatch", "Undetermined Error"];
    assert!(reasons.iter().any(|r| error.contains(r)), "{error}");
    assert!(error.contains("downloading the pinned source"), "{error}");
    assert!(error.contains(&pool::file_name(&right)), "{error}");
    assert_eq!(folder.read_dir().unwrap().count(), 0);
}

#[test]
fn a_kept_file_with_other_bytes_is_not_the_pinned_package() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(pool::file_name(&PINNED));
    std::fs::write(file, "half a package").unwrap();
    assert_eq!(pool::kept(&PINNED, dir.path()), None);
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
    let deb = archive.package();
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
