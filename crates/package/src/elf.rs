//! Header of a program: its processor, and the libraries that it needs (System V ABI, ELF-64 Object
//! File Format 1.5; versions: Linux Standard Base Core 5.0, section 10.7).

use std::{collections::BTreeSet, fs, path::Path};

use crate::PackageError;

/// A processor for which there are packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

impl Machine {
    /// The processor that this program was built for.
    pub const HOST: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Self::Aarch64)
    } else {
        None
    };

    /// Debian's name.
    pub fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The name in target triples.
    pub fn gnu(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
}

/// A program file.
#[derive(Clone, Debug)]
pub struct Elf {
    bytes: Vec<u8>,
    /// Its processor.
    pub machine: Machine,
}

const SHT_DYNAMIC: usize = 6;
const SHT_GNU_VERNEED: usize = 0x6fff_fffe;
const DT_NEEDED: usize = 1;

impl Elf {
    /// Reads a program.
    ///
    /// # Errors
    /// It cannot be read, or is not a program for a supported processor.
    pub fn read(path: &Path) -> Result<Self, PackageError> {
        let bytes = fs::read(path).map_err(PackageError::file("read", path))?;
        Self::parse(bytes).map_err(|why| PackageError::Program {
            path: path.to_owned(),
            why,
        })
    }

    fn parse(bytes: Vec<u8>) -> Result<Self, &'static str> {
        // ELFCLASS64 and ELFDATA2LSB.
        if !bytes.starts_with(b"\x7fELF\x02\x01") || bytes.len() < 64 {
            return Err("not a program for 64-bit little-endian Linux");
        }
        // EM_X86_64 and EM_AARCH64.
        let machine = match number(&bytes, 18, 2) {
            Some(62) => Machine::X86_64,
            Some(183) => Machine::Aarch64,
            _ => return Err("a program for a processor without packages"),
        };
        Ok(Self { bytes, machine })
    }

    /// Contents and sizes of the sections of a type, with the strings that they name.
    fn sections(&self, kind: usize) -> impl Iterator<Item = Section<'_>> {
        let at = |offset: usize, size| number(&self.bytes, offset, size);
        let table = at(40, 8).unwrap_or(0);
        let (size, count) = (at(58, 2).unwrap_or(0), at(60, 2).unwrap_or(0));
        let part = move |index: usize| -> Option<(usize, &[u8], usize)> {
            let entry = table.checked_add(index.checked_mul(size)?)?;
            let field = |offset, size| at(entry.checked_add(offset)?, size);
            let (start, length) = (field(24, 8)?, field(32, 8)?);
            let bytes = self.bytes.get(start..start.checked_add(length)?)?;
            Some((field(4, 4)?, bytes, field(40, 4)?))
        };
        (0..count).filter_map(move |index| {
            let (found, bytes, link) = part(index)?;
            let strings = part(link).map_or(&[][..], |(_, strings, _)| strings);
            (found == kind).then_some(Section { bytes, strings })
        })
    }

    /// Names of the shared libraries it needs; none if it is static.
    pub fn libraries(&self) -> BTreeSet<String> {
        let entries = self.sections(SHT_DYNAMIC).flat_map(|section| {
            section
                .bytes
                .as_chunks::<16>()
                .0
                .iter()
                .filter_map(move |entry| {
                    let needed = number(entry, 0, 8)? == DT_NEEDED;
                    needed
                        .then(|| section.string(number(entry, 8, 8)?))
                        .flatten()
                })
        });
        entries.collect()
    }

    /// The versions of symbols that it needs of its libraries, such as `GLIBC_2.34`.
    pub fn versions(&self) -> BTreeSet<String> {
        let sections = self.sections(SHT_GNU_VERNEED);
        sections.flat_map(|section| section.versions()).collect()
    }
}

/// A section of a program.
struct Section<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
}

impl Section<'_> {
    fn string(&self, at: usize) -> Option<String> {
        let rest = self.strings.get(at..)?;
        let text = rest.split(|byte| *byte == 0).next()?;
        String::from_utf8(text.to_vec()).ok()
    }

    /// Follows the list of libraries, and that of the versions of each.
    fn versions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut library = 0;
        loop {
            let field = |at, size| number(self.bytes, at, size).unwrap_or(0);
            let mut version = library + field(library + 8, 4);
            for _ in 0..field(library + 2, 2) {
                found.extend(self.string(field(version + 8, 4)));
                version += field(version + 12, 4);
            }
            match field(library + 12, 4) {
                0 => return found,
                next => library += next,
            }
        }
    }
}

/// A little-endian number.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(size)?)?;
    let number = digits.iter().rev();
    Some(number.fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn its_header_matches_readelf() {
        let own = std::env::current_exe().unwrap();
        let elf = Elf::read(&own).unwrap();
        assert_eq!(Some(elf.machine), Machine::HOST);
        let output = Command::new("readelf")
            .args(["--wide", "--dynamic", "--version-info"])
            .arg(&own)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let between = |line: &str, before: &str, after: char| {
            let rest = line.split_once(before)?.1;
            Some(rest.split(after).next()?.to_owned())
        };
        let needed = text.lines().filter(|line| line.contains("(NEEDED)"));
        let needed: BTreeSet<_> = needed.filter_map(|line| between(line, "[", ']')).collect();
        assert!(!needed.is_empty());
        assert_eq!(elf.libraries(), needed);
        let versions = text
            .lines()
            .filter(|line| line.contains("Flags:") && line.contains("  Name:"));
        let versions: BTreeSet<_> = versions
            .filter_map(|line| between(line, "Name: ", ' '))
            .collect();
        assert!(versions.iter().any(|version| version.starts_with("GLIBC_")));
        assert_eq!(elf.versions(), versions);
    }

    #[test]
    fn a_script_is_not_a_program() {
        assert!(Elf::parse(b"#!/bin/sh\n".to_vec()).is_err());
    }

    #[test]
    fn a_damaged_header_does_not_panic() {
        let mut bytes = fs::read(std::env::current_exe().unwrap()).unwrap();
        bytes[40..64].fill(0xff);
        let elf = Elf::parse(bytes).unwrap();
        assert!(elf.libraries().is_empty());
    }
}
