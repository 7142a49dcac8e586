//! The kernel source: a package, tarball or folder, and its unpacking to a tree.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::error::{Context as _, KernelError, SourceFault};
use super::image::{SourceInfo, hex};
use super::run::{Runner, plain};
use super::tools::SourceKind;
use super::version;

/// A source on disk.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) kind: SourceKind,
    pub(super) path: PathBuf,
    pub(super) info: SourceInfo,
}

/// Files that no build for User Mode Linux on x86 reads, as patterns of tar (a `*` also matches
/// `/`). Kconfig files and Makefiles are not excluded, since they are read as a whole.
const NEVER_READ: &[&str] = &[
    "*/.git",
    "*/arch/[!ux]*/*.[chS]",
    "*/arch/*.dts*",
    "*/rust/*.rs",
    "*/samples/*.[ch]",
    "*/tools/perf/*",
    "*/tools/testing/*",
    "*/Documentation/*.rst",
    "*/Documentation/*.yaml",
];

/// Those that a build with the options of the lab does not read either, so that of the 1.6 GB of
/// Linux 7.2 an eighth is unpacked and removed. Other options may be of any driver or file system.
const NOT_OF_LAB: &[&str] = &[
    "*/drivers/[!bcnt]*/*.[chS]",
    "*/drivers/c[!h]*/*.[chS]",
    "*/drivers/net/[!w]*/*.[chS]",
    "*/drivers/net/wireless/*.[chS]",
    "*/fs/[bcglox]*/*.[ch]",
    "*/fs/[ns][fltm]*/*.[ch]",
    "*/sound/*.[ch]",
    "*/tools/lib/*",
];

/// The patterns of files that are not unpacked for the lab's options, or for those and `others`.
pub(super) fn left_out(others: Option<&str>) -> Vec<&'static str> {
    let of_lab = match others {
        None => NOT_OF_LAB,
        Some(_) => &[],
    };
    [NEVER_READ, of_lab].concat()
}

/// Returns the kind of source at a path, by its name or because it is a folder.
pub(super) fn kind_of(path: &Path) -> Result<SourceKind, KernelError> {
    let meta = path
        .metadata()
        .map_err(|error| KernelError::source(path, SourceFault::NotFound(error)))?;
    if meta.is_dir() {
        return Ok(SourceKind::Directory);
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&[".deb"]) {
        Ok(SourceKind::Package)
    } else if ends(&[".tar"]) {
        Ok(SourceKind::Tarball(None))
    } else if ends(&[".tar.xz", ".txz"]) {
        Ok(SourceKind::Tarball(Some(("xz", "xz-utils"))))
    } else if ends(&[".tar.gz", ".tgz"]) {
        Ok(SourceKind::Tarball(Some(("gzip", "gzip"))))
    } else if ends(&[".tar.bz2", ".tbz2"]) {
        Ok(SourceKind::Tarball(Some(("bzip2", "bzip2"))))
    } else if ends(&[".tar.zst"]) {
        Ok(SourceKind::Tarball(Some(("zstd", "zstd"))))
    } else {
        Err(KernelError::source(path, SourceFault::UnknownKind))
    }
}

/// Describes a source on disk.
pub(super) fn open(
    path: &Path,
    kind: SourceKind,
    archive: Option<String>,
) -> Result<Source, KernelError> {
    let path = path.canonicalize().on("find", path)?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let sha256 = match kind {
        SourceKind::Directory => hash_folder(&path)?,
        _ => hash_file(&path)?,
    };
    // A package's file name carries its name and version: linux-source-7.2_7.2.13-1_all.deb
    let name = match (kind, name.split('_').collect::<Vec<_>>().as_slice()) {
        (SourceKind::Package | SourceKind::Archive, [package, version, _]) => {
            format!("{package} {version}")
        }
        _ => name,
    };
    Ok(Source {
        kind,
        path,
        info: SourceInfo {
            name,
            sha256,
            archive,
        },
    })
}

/// SHA-256 of a file.
pub(super) fn hash_file(path: &Path) -> Result<String, KernelError> {
    let mut hash = Sha256::new();
    feed(&mut hash, path)?;
    Ok(hex(&hash.finalize()))
}

fn feed(hash: &mut Sha256, path: &Path) -> Result<(), KernelError> {
    let mut file = File::open(path).on("open", path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).on("read", path)? {
            0 => return Ok(()),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// Hash over the paths and contents of a folder, in the order of the paths.
fn hash_folder(folder: &Path) -> Result<String, KernelError> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).on("list", &dir)? {
            let entry = entry.on("list", &dir)?;
            let kind = entry.file_type().on("read", &entry.path())?;
            if kind.is_dir() && entry.file_name() != ".git" {
                open.push(entry.path());
            } else if !kind.is_dir() {
                files.push((entry.path(), kind.is_symlink()));
            }
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    for (path, link) in files {
        hash.update(
            path.strip_prefix(folder)
                .unwrap_or(&path)
                .as_os_str()
                .as_encoded_bytes(),
        );
        hash.update([0, u8::from(link)]);
        if link {
            hash.update(
                std::fs::read_link(&path)
                    .on("read", &path)?
                    .as_os_str()
                    .as_encoded_bytes(),
            );
        } else {
            hash.update(path.metadata().on("read", &path)?.len().to_le_bytes());
            feed(&mut hash, &path)?;
        }
    }
    Ok(hex(&hash.finalize()))
}

/// Unpacks a source below a folder without the files of some patterns, and returns the tree and its
/// version.
pub(super) fn unpack(
    runner: &Runner,
    source: &Source,
    into: &Path,
    left_out: &[&str],
) -> Result<(PathBuf, String), KernelError> {
    let tree = into.join("src");
    std::fs::create_dir_all(&tree).on("create", &tree)?;
    match source.kind {
        SourceKind::Directory => copy(runner, &source.path, &tree.join("linux"), left_out)?,
        SourceKind::Tarball(_) => extract(runner, &source.path, &tree, left_out)?,
        SourceKind::Package | SourceKind::Archive => {
            let package = into.join("package");
            std::fs::create_dir_all(&package).on("create", &package)?;
            let mut command = plain("dpkg-deb");
            command.arg("--extract").arg(&source.path).arg(&package);
            runner.run("opening the package", &mut command)?;
            extract(
                runner,
                &tarball_in(&package, &source.path)?,
                &tree,
                left_out,
            )?;
            std::fs::remove_dir_all(&package).on("remove", &package)?;
        }
    }
    find_tree(&tree).ok_or_else(|| KernelError::source(&source.path, SourceFault::NoKernel))
}

fn leave_out(command: &mut std::process::Command, patterns: &[&str]) {
    command.arg("--wildcards");
    let patterns = patterns.iter();
    command.args(patterns.map(|pattern| format!("--exclude={pattern}")));
}

fn extract(
    runner: &Runner,
    tarball: &Path,
    into: &Path,
    left_out: &[&str],
) -> Result<(), KernelError> {
    let mut command = plain("tar");
    leave_out(&mut command, left_out);
    command
        .args(["--no-same-owner", "--extract", "--file"])
        .arg(tarball)
        .arg("--directory")
        .arg(into);
    runner.run("unpacking the source", &mut command)
}

fn copy(runner: &Runner, from: &Path, to: &Path, left_out: &[&str]) -> Result<(), KernelError> {
    std::fs::create_dir_all(to).on("create", to)?;
    let archive = to.with_extension("tar");
    let mut pack = plain("tar");
    leave_out(&mut pack, left_out);
    pack.args(["--create", "--file"])
        .arg(&archive)
        .arg("--directory")
        .arg(from)
        .arg(".");
    runner.run("copying the source", &mut pack)?;
    extract(runner, &archive, to, left_out)?;
    std::fs::remove_file(&archive).on("remove", &archive)?;
    // Objects of an earlier build in that folder must not become part of this one.
    runner.run(
        "cleaning the copy",
        plain("make").args(["ARCH=um", "mrproper"]).current_dir(to),
    )
}

/// Debian: `usr/src/linux-source-7.2.tar.xz`; Ubuntu: one folder deeper.
fn tarball_in(package: &Path, named: &Path) -> Result<PathBuf, KernelError> {
    let mut open = vec![package.join("usr/src")];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).on("list", &dir)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().on("read", &entry.path())?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() && name.starts_with("linux-source-") && name.contains(".tar") {
                return Ok(entry.path());
            }
        }
    }
    Err(KernelError::source(named, SourceFault::NotSourcePackage))
}

fn find_tree(below: &Path) -> Option<(PathBuf, String)> {
    let inside = std::fs::read_dir(below)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    std::iter::once(below.to_path_buf())
        .chain(inside)
        .find_map(|dir| {
            let text = std::fs::read_to_string(dir.join("Makefile")).ok()?;
            dir.join("arch/um/Kconfig").is_file().then_some(())?;
            Some((dir, version::from_makefile(&text)?))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny_kernel(dir: &Path) {
        std::fs::create_dir_all(dir.join("arch/um")).unwrap();
        std::fs::write(dir.join("arch/um/Kconfig"), "config HZ\n").unwrap();
        std::fs::write(
            dir.join("Makefile"),
            "VERSION = 9\nPATCHLEVEL = 8\nSUBLEVEL = 7\nEXTRAVERSION =\nmrproper:\n",
        )
        .unwrap();
    }

    #[test]
    fn kinds_are_known_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let kind = |name: &str| {
            let file = dir.path().join(name);
            std::fs::write(&file, "").unwrap();
            kind_of(&file)
        };
        assert_eq!(kind_of(dir.path()).unwrap(), SourceKind::Directory);
        assert_eq!(
            kind("linux-source-7.2_7.2.13-1_all.deb").unwrap(),
            SourceKind::Package
        );
        assert_eq!(
            kind("linux-7.2.tar.xz").unwrap(),
            SourceKind::Tarball(Some(("xz", "xz-utils")))
        );
        assert!(
            kind("linux.zip")
                .unwrap_err()
                .to_string()
                .contains("neither")
        );
        assert!(kind_of(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn a_folder_and_its_tarball_unpack_to_the_same_version() {
        let dir = tempfile::tempdir().unwrap();
        let runner = Runner::new(dir.path().join("log"), None).unwrap();
        let kernel = dir.path().join("linux-9.8.7");
        tiny_kernel(&kernel);
        let tarball = dir.path().join("linux-9.8.7.tar.gz");
        runner
            .run(
                "tar",
                plain("tar")
                    .arg("-C")
                    .arg(dir.path())
                    .arg("-czf")
                    .arg(&tarball)
                    .arg("linux-9.8.7"),
            )
            .unwrap();
        for path in [&kernel, &tarball] {
            let source = open(path, kind_of(path).unwrap(), None).unwrap();
            let into = tempfile::tempdir().unwrap();
            let (tree, version) = unpack(&runner, &source, into.path(), &left_out(None)).unwrap();
            assert_eq!(version, "9.8.7");
            assert!(tree.join("arch/um/Kconfig").is_file());
        }
    }

    #[test]
    fn the_hash_of_a_folder_follows_contents_and_not_its_place() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        tiny_kernel(one.path());
        tiny_kernel(two.path());
        assert_eq!(
            hash_folder(one.path()).unwrap(),
            hash_folder(two.path()).unwrap()
        );
        std::fs::write(two.path().join("arch/um/Kconfig"), "config HX\n").unwrap();
        assert_ne!(
            hash_folder(one.path()).unwrap(),
            hash_folder(two.path()).unwrap()
        );
    }
}
