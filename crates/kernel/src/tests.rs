//! Tests with the real apt, and the long ones that build a kernel.

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::apt::Repository;
use super::build::{BuildOptions, build_in};
use super::cache::Cache;
use super::error::KernelError;
use super::image::{Image, Meta, hex, locate_in};
use super::run::{Runner, plain};
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

fn run(command: &mut Command) {
    let out = command.output().unwrap();
    assert!(
        out.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}

/// A tiny archive in a folder, with one package, signed by a key of its own.
struct Archive {
    dir: TempDir,
}

impl Archive {
    fn new() -> Self {
        let archive = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let (dists, package) = (archive.dists(), archive.dir.path().join("package"));
        for dir in [
            dists.join("main/binary-amd64"),
            package.join("DEBIAN"),
            archive.gnupg(),
            archive.dir.path().join("pool"),
        ] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let control = "Package: linux-source-9.8\nVersion: 9.8.7-1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n";
        std::fs::write(package.join("DEBIAN/control"), control).unwrap();
        let deb = archive
            .dir
            .path()
            .join("pool/linux-source-9.8_9.8.7-1_all.deb");
        run(plain("dpkg-deb")
            .args(["--root-owner-group", "--build"])
            .arg(&package)
            .arg(&deb));
        let bytes = std::fs::read(&deb).unwrap();
        let packages = format!(
            "{control}Filename: pool/linux-source-9.8_9.8.7-1_all.deb\nSize: {}\nSHA256: {}\n",
            bytes.len(),
            hex(&Sha256::digest(&bytes))
        );
        std::fs::write(dists.join("main/binary-amd64/Packages"), &packages).unwrap();
        let release = format!(
            "Origin: test\nSuite: unstable\nCodename: sid\nArchitectures: amd64\nComponents: main\n\
             Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n {} {} main/binary-amd64/Packages\n",
            hex(&Sha256::digest(&packages)),
            packages.len()
        );
        std::fs::write(dists.join("Release"), release).unwrap();
        archive
    }

    fn dists(&self) -> PathBuf {
        self.dir.path().join("dists/unstable")
    }

    fn gnupg(&self) -> PathBuf {
        self.dir.path().join("gnupg")
    }

    fn keyring(&self) -> PathBuf {
        self.dir.path().join("key.gpg")
    }

    fn gpg(&self) -> Command {
        let mut command = plain("gpg");
        command.args([
            "--batch",
            "--quiet",
            "--pinentry-mode",
            "loopback",
            "--passphrase",
            "",
            "--homedir",
        ]);
        command.arg(self.gnupg());
        command
    }

    fn sign(&self) {
        run(self.gpg().args([
            "--quick-generate-key",
            "test@example.org",
            "rsa2048",
            "sign",
            "never",
        ]));
        run(self
            .gpg()
            .arg("--output")
            .arg(self.keyring())
            .args(["--export", "test@example.org"]));
        run(self
            .gpg()
            .arg("--output")
            .arg(self.dists().join("InRelease"))
            .arg("--clearsign")
            .arg(self.dists().join("Release")));
        run(plain("gpgconf")
            .arg("--homedir")
            .arg(self.gnupg())
            .args(["--kill", "all"]));
    }

    fn repository(&self) -> Repository {
        let folder = self.dir.path().join("apt");
        std::fs::create_dir_all(&folder).unwrap();
        Repository {
            uri: format!("file:{}", self.dir.path().display()),
            suite: "unstable".to_owned(),
            keyring: self.keyring(),
            folder,
            expired: false,
        }
    }

    fn fetch(&self) -> Result<Vec<u8>, KernelError> {
        let runner = Runner::new(self.dir.path().join("log"), None)?;
        let repository = self.repository();
        repository.update(&runner)?;
        let offers = repository.offers(&runner)?;
        assert_eq!(offers.len(), 1);
        let name = &offers[0].package;
        assert_eq!(
            (name.as_str(), offers[0].version.as_str()),
            ("linux-source-9.8", "9.8.7-1")
        );
        let file = repository.download(&runner, name, &self.dir.path().join("got"))?;
        assert_eq!(
            offers[0].sha256.as_deref(),
            Some(super::source::hash_file(&file)?.as_str())
        );
        Ok(std::fs::read(file).unwrap())
    }
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
fn an_archive_out_of_date_is_said_and_its_other_packages_are_not_taken() {
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
    let pinned = search.ask(&runner, archive.repository()).unwrap();
    assert!(!pinned);
    assert!(search.candidates(true).is_empty());
    let [(_, why)] = search.tried.as_slice() else {
        panic!("{:?}", search.tried);
    };
    assert!(
        why.contains("out of date") && why.contains("9.8.7-1"),
        "{why}"
    );
}

/// Asks the real archives: `cargo test -p pathtwin-kernel --lib -- --ignored pinned --nocapture`
#[test]
#[ignore = "asks the Debian archive"]
fn the_pinned_source_can_be_had() {
    let dir = tempfile::tempdir().unwrap();
    let runner = Runner::new(dir.path().join("log"), None).unwrap();
    let mut say = |place: &str| eprintln!("{place}");
    let mut search = Search::new(&runner, &dir.path().join("apt"), dir.path(), &mut say).unwrap();
    let candidates = search.candidates(false);
    eprintln!("{candidates:#?}\n{:#?}", search.tried);
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
    // Even though good lists of the same archive were read a moment ago.
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
fn an_empty_cache_says_what_to_run() {
    let dir = tempfile::tempdir().unwrap();
    let error = locate_in(&Cache::at(dir.path())).unwrap_err();
    assert!(
        error.to_string().contains("pathtwin lab kernel build"),
        "{error}"
    );
    assert_eq!(error.exit_code(), 3);
}

/// The source for the long tests: `PATHTWIN_TEST_KERNEL_SOURCE`, else what an archive offers.
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

fn assert_tells(told: &Meta, known: &Meta) {
    let expected = Meta {
        source: None,
        recipe: None,
        inputs: None,
        compiler: None,
        patches: Vec::new(),
        config: told.config.clone(),
        ..known.clone()
    };
    assert_eq!(*told, expected);
    assert_eq!(told.config.trim_end(), known.config.trim_end());
}

/// Two builds in two folders give the same bytes. Takes two kernel builds:
/// `cargo test -p pathtwin-kernel --lib -- --ignored tests::two_builds --nocapture`
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
    // An image that lies anywhere tells the same about itself.
    let told = Image::open(&second.path).unwrap().meta.unwrap();
    assert_eq!(told.config, meta.config);
}

/// Any other source builds too, and tells what it lacks:
/// `PATHTWIN_TEST_KERNEL_SOURCE=FILE cargo test -p pathtwin-kernel --lib -- --ignored
/// tests::a_given --nocapture`
///
/// With `PATHTWIN_TEST_KERNEL_KEEP=FILE` the image stays there.
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
    // Without its document an image tells the same about itself, but for where it came from.
    let alone = cache.path().join("alone");
    std::fs::copy(&image.path, &alone).unwrap();
    assert_tells(&Image::open(&alone).unwrap().meta.unwrap(), &meta);
    if let Some(keep) = std::env::var_os("PATHTWIN_TEST_KERNEL_KEEP") {
        std::fs::copy(&image.path, keep).unwrap();
    }
}

/// What an image tells: `PATHTWIN_KERNEL=FILE cargo test ... kernel::tests::an_image --nocapture`
#[test]
#[ignore = "needs a kernel"]
fn an_image_tells_about_itself() {
    let image = super::locate().unwrap();
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
