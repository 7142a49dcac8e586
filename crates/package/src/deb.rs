//! Packages of Debian (deb(5), Debian Policy 5 and 10): the two archives are written directly,
//! which needs neither root nor a folder with the right owners, and gives the same bytes
//! everywhere.

use std::{fmt::Write, path::Path};

use sha2::{Digest, Sha256};

use crate::{
    Epoch, PackageError, VERSION,
    changelog::Changelog,
    contents,
    program::{Program, filter},
    tar,
    tree::Tree,
};

/// A package as a file.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its file name.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Maintainer of a package, unless `DEBFULLNAME` and `DEBEMAIL` are set.
pub const MAINTAINER: &str = "pathtwin maintainers <maintainers@pathtwin.invalid>";

/// Description and dependencies of the package.
struct Control<'a> {
    programs: &'a [Program],
    maintainer: &'a str,
    kib: usize,
}

impl Control<'_> {
    fn text(&self, architecture: &str) -> String {
        let lab = self.programs.iter().any(|p| p.name() == "pathtwin-guest");
        let mut text = format!(
            "Package: pathtwin\nVersion: {VERSION}\nArchitecture: {architecture}\n\
             Maintainer: {}\nInstalled-Size: {}\nDepends: {}\n",
            self.maintainer,
            self.kib,
            self.dependencies().join(", "),
        );
        text.push_str("Recommends: ca-certificates\n");
        if lab {
            // Packages needed to build the kernel of the lab (`pathtwin lab kernel build`).
            text.push_str("Suggests: gcc, make, flex, bison, bc, wireguard-tools\n");
        }
        text.push_str(
            "Section: net\nPriority: optional\n\
             Description: finds out why TCP is slow on a network path\n \
             Measures both directions of a path and the tunnel on it between two hosts,\n \
             names what limits them, tries remedies on a twin of the path, and changes\n \
             settings of a host with a way back.\n .\n \
             The far end runs \"pathtwin serve\", and \"pathtwin watch\" measures all the time;\n \
             both are services that are not started before they are wanted.\n",
        );
        if !lab {
            text.push_str(
                " .\n This build has no lab: the commands lab, twin, advise and fix are missing.\n",
            );
        }
        text
    }

    /// The libraries that the programs need, with their versions; sysusers for the user of the
    /// watch.
    fn dependencies(&self) -> Vec<String> {
        let versions = self.programs.iter().flat_map(|p| p.elf.versions());
        let glibc = versions.filter_map(|version| glibc(&version)).max();
        let needs = |library: &str| {
            let mut programs = self.programs.iter();
            programs.any(|p| p.elf.libraries().contains(library))
        };
        let mut all = Vec::new();
        if let Some((major, minor)) = glibc {
            all.push(format!("libc6 (>= {major}.{minor})"));
        }
        if needs("libgcc_s.so.1") {
            all.push("libgcc-s1".to_owned());
        }
        all.push("systemd | systemd-standalone-sysusers | systemd-sysusers".to_owned());
        all
    }
}

/// The version in the name of a version of symbols, such as `GLIBC_2.34`.
fn glibc(symbols: &str) -> Option<(u32, u32)> {
    let (major, minor) = symbols.strip_prefix("GLIBC_")?.split_once('.')?;
    // Some have a third part, such as 2.2.5.
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Properties common to all packages of a release.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// The checkout.
    pub checkout: &'a Path,
    /// Name and address of the maintainer.
    pub maintainer: &'a str,
    /// The time of all files.
    pub epoch: Epoch,
    /// Compression level of xz, 0 to 9.
    pub level: u8,
}

/// Makes a package of programs for one processor; the first is `pathtwin` itself. The extra files
/// are compressed into its documentation.
///
/// # Errors
/// A program or a file of the checkout cannot be read or packed.
pub fn package(
    common: Common<'_>,
    programs: &[Program],
    extra: &[(String, Vec<u8>)],
) -> Result<Package, PackageError> {
    let Common {
        checkout,
        maintainer,
        epoch,
        level,
    } = common;
    let Some(main) = programs.first() else {
        return Err(PackageError::NoTool("pathtwin".to_owned()));
    };
    let architecture = main.elf.machine.debian();
    let mut tree = contents::debian(checkout, programs)?;
    documents(&mut tree, checkout, maintainer, epoch)?;
    for (name, bytes) in extra {
        tree.file(
            &format!("usr/share/doc/pathtwin/{name}.gz"),
            tar::gzip(bytes)?,
        );
    }
    let kib = tree.installed_kib();
    let about = Control {
        programs,
        maintainer,
        kib,
    };
    let control = control(checkout, &tree, &about.text(architecture))?;
    let xz = |tree: &Tree| compressed(&tar::archive(tree, true, epoch)?, level);
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.xz", xz(&control)?),
        ("data.tar.xz", xz(&tree)?),
    ];
    Ok(Package {
        name: format!("pathtwin_{VERSION}_{architecture}.deb"),
        bytes: ar(&members, epoch),
    })
}

/// Changelog and copyright (Policy 12.5, 12.7).
fn documents(
    tree: &mut Tree,
    checkout: &Path,
    maintainer: &str,
    epoch: Epoch,
) -> Result<(), PackageError> {
    let log = contents::source(checkout, "CHANGELOG.md")?;
    let log = String::from_utf8_lossy(&log).into_owned();
    let log = Changelog::parse(&log).debian(VERSION, maintainer, epoch)?;
    let folder = "usr/share/doc/pathtwin";
    tree.file(
        &format!("{folder}/changelog.gz"),
        tar::gzip(log.as_bytes())?,
    );
    let mut copyright = contents::source(checkout, "packaging/debian/copyright")?;
    let mit = contents::source(checkout, "LICENSE-MIT")?;
    copyright.extend(stanza(&String::from_utf8_lossy(&mit)).into_bytes());
    tree.file(&format!("{folder}/copyright"), copyright);
    Ok(())
}

/// The text of the MIT licence as a stanza of a copyright file.
fn stanza(licence: &str) -> String {
    let text = licence
        .split_once("Permission is hereby")
        .map_or(licence, |(_, rest)| rest);
    let mut stanza = "\nLicense: MIT\n Permission is hereby".to_owned();
    for line in text.trim_end().lines().enumerate() {
        match line {
            (0, line) => stanza.push_str(line),
            (_, "") => stanza.push_str("\n ."),
            (_, line) => {
                stanza.push_str("\n ");
                stanza.push_str(line);
            }
        }
    }
    stanza.push('\n');
    stanza
}

fn control(checkout: &Path, tree: &Tree, text: &str) -> Result<Tree, PackageError> {
    let mut control = Tree::default();
    control.file("control", text);
    for script in ["postinst", "prerm", "postrm"] {
        let path = format!("packaging/debian/{script}");
        control.program(script, contents::source(checkout, &path)?);
    }
    let edited = tree.files().filter(|(path, _)| path.starts_with("etc/"));
    let edited: String = edited.map(|(path, _)| format!("/{path}\n")).collect();
    control.file("conffiles", edited);
    let mut sums = String::new();
    for (path, bytes) in tree.files().filter(|(path, _)| !path.starts_with("etc/")) {
        // Writing to a string cannot fail.
        let _ = writeln!(sums, "{}  {path}", md5(bytes)?);
    }
    control.file("md5sums", sums);
    Ok(control)
}

/// Compresses bytes by xz with one thread, since more would change the blocks.
///
/// # Errors
/// xz is missing.
pub fn compressed(bytes: &[u8], level: u8) -> Result<Vec<u8>, PackageError> {
    filter("xz", &["-T1", &format!("-{level}"), "-c"], bytes)
}

/// Returns the checksum that `dpkg --verify` compares with.
fn md5(bytes: &[u8]) -> Result<String, PackageError> {
    let printed = filter("md5sum", &["-"], bytes)?;
    let text = String::from_utf8_lossy(&printed);
    Ok(text
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned())
}

/// An archive of `ar` (deb(5)): members with a header of 60 bytes, each at an even place.
fn ar(members: &[(&str, Vec<u8>)], epoch: Epoch) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let (time, size) = (epoch.0, bytes.len());
        let header = format!("{name:<16}{time:<12}0     0     100644  {size:<10}`\n");
        out.extend(header.into_bytes());
        out.extend(bytes);
        if out.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

/// The line of a file in a list of checksums.
pub fn sum(package: &Package) -> String {
    let digest = Sha256::digest(&package.bytes);
    let mut line = String::new();
    for byte in digest {
        let _ = write!(line, "{byte:02x}");
    }
    format!("{line}  {}\n", package.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_glibc_counts_by_number() {
        let names = ["GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.4", "GCC_3.0"];
        let newest = names.iter().filter_map(|name| glibc(name)).max();
        assert_eq!(newest, Some((2, 34)));
    }

    #[test]
    fn a_checksum_is_that_of_the_standard() {
        // FIPS 180-2, B.1.
        let package = Package {
            name: "a".to_owned(),
            bytes: b"abc".to_vec(),
        };
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n";
        assert_eq!(sum(&package), expected);
    }
}
