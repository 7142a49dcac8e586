//! Archive of one package in a folder, signed by a separate key, for tests with the real apt.

use std::path::PathBuf;
use std::process::Command;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::apt::Repository;
use crate::error::KernelError;
use crate::image::hex;
use crate::run::{Runner, plain};
use crate::source::hash_file;

fn run(command: &mut Command) {
    let out = command.output().unwrap();
    assert!(
        out.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}

/// A tiny archive in a folder, with one package, signed by a separate key.
pub(super) struct Archive {
    pub(super) dir: TempDir,
}

impl Archive {
    pub(super) fn new() -> Self {
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
        let deb = archive.package();
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

    pub(super) fn dists(&self) -> PathBuf {
        self.dir.path().join("dists/unstable")
    }

    /// The package of its pool.
    pub(super) fn package(&self) -> PathBuf {
        self.dir
            .path()
            .join("pool/linux-source-9.8_9.8.7-1_all.deb")
    }

    fn gnupg(&self) -> PathBuf {
        self.dir.path().join("gnupg")
    }

    pub(super) fn keyring(&self) -> PathBuf {
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

    pub(super) fn sign(&self) {
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

    pub(super) fn repository(&self) -> Repository {
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

    pub(super) fn fetch(&self) -> Result<Vec<u8>, KernelError> {
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
            Some(hash_file(&file)?.as_str())
        );
        Ok(std::fs::read(file).unwrap())
    }
}
