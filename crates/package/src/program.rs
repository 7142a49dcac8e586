//! Programs to pack: stripped, and run to generate completions and manual pages.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::{
    PackageError,
    elf::{Elf, Machine},
};

/// A built program.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    /// Its header.
    pub elf: Elf,
}

impl Program {
    /// Reads a program.
    ///
    /// # Errors
    /// It cannot be read, or is not a program for a supported processor.
    pub fn read(path: &Path) -> Result<Self, PackageError> {
        let elf = Elf::read(path)?;
        let path = path.to_owned();
        Ok(Self { path, elf })
    }

    /// Its file name.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Its bytes without debug symbols.
    ///
    /// # Errors
    /// `strip` for its processor is missing or fails.
    pub fn stripped(&self) -> Result<Vec<u8>, PackageError> {
        let folder = tempfile::tempdir().map_err(PackageError::file("make", "a folder"))?;
        let copy = folder.path().join(self.name());
        let tool = if Some(self.elf.machine) == Machine::HOST {
            "strip".to_owned()
        } else {
            format!("{}-linux-gnu-strip", self.elf.machine.gnu())
        };
        let names = [OsStr::new("-o"), copy.as_os_str(), self.path.as_os_str()];
        let remove = ["--strip-unneeded", "--remove-section=.comment"].map(OsStr::new);
        run(&tool, &[&remove[..], &names[..]].concat())?;
        fs::read(&copy).map_err(PackageError::file("read", &copy))
    }

    /// Returns its output for some arguments. A program for another processor runs in QEMU.
    ///
    /// # Errors
    /// It fails, or there is no emulator.
    pub fn output(&self, arguments: &[&OsStr]) -> Result<Vec<u8>, PackageError> {
        let own = self.path.as_os_str();
        if Some(self.elf.machine) == Machine::HOST {
            return run(&self.path.to_string_lossy(), arguments);
        }
        let processor = self.elf.machine.gnu();
        // Where Debian's cross compilers have the libraries.
        let libraries = format!("/usr/{processor}-linux-gnu");
        let before = [OsStr::new("-L"), OsStr::new(&libraries), own];
        run(
            &format!("qemu-{processor}"),
            &[&before[..], arguments].concat(),
        )
    }

    /// The completion script for a shell.
    ///
    /// # Errors
    /// The program fails.
    pub fn completions(&self, shell: &str) -> Result<Vec<u8>, PackageError> {
        self.output(&["completions", shell].map(OsStr::new))
    }

    /// Its manual pages by name.
    ///
    /// # Errors
    /// The program fails, or has no manual pages.
    pub fn manual(&self) -> Result<Vec<(String, Vec<u8>)>, PackageError> {
        let folder = tempfile::tempdir().map_err(PackageError::file("make", "a folder"))?;
        self.output(&[OsStr::new("manual"), folder.path().as_os_str()])?;
        let error = PackageError::file("list", folder.path());
        let entries = fs::read_dir(folder.path()).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut pages = Vec::new();
        for entry in entries.map_err(error)? {
            let page = fs::read(entry.path()).map_err(PackageError::file("read", entry.path()))?;
            pages.push((entry.file_name().to_string_lossy().into_owned(), page));
        }
        Ok(pages)
    }
}

/// Runs a program to its end and returns its output.
///
/// # Errors
/// The program is missing or fails.
pub fn run(program: &str, arguments: &[&OsStr]) -> Result<Vec<u8>, PackageError> {
    let output = Command::new(program).args(arguments).output();
    printed(program, output)
}

/// Runs a filter program.
///
/// # Errors
/// The program is missing or fails.
pub fn filter(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, PackageError> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let output = child.and_then(|mut child| {
        let stdin = child.stdin.take();
        // Writing and reading at once: neither pipe may fill up.
        std::thread::scope(|scope| {
            // A program that stops reading states why itself.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            child.wait_with_output()
        })
    });
    printed(program, output)
}

fn printed(program: &str, output: std::io::Result<Output>) -> Result<Vec<u8>, PackageError> {
    let output = output.map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => PackageError::NoTool(program.to_owned()),
        _ => PackageError::file("run", program)(source),
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(PackageError::Tool {
        program: program.to_owned(),
        output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_with_more_than_a_pipe_holds_ends() {
        let bytes = vec![1; 1 << 20];
        assert_eq!(filter("cat", &[], &bytes).unwrap(), bytes);
    }

    #[test]
    fn missing_and_failing_programs_are_named() {
        let lacks = run("no-such-program", &[]);
        assert!(matches!(lacks, Err(PackageError::NoTool(name)) if name == "no-such-program"));
        let failed = filter("sh", &["-c", "echo why >&2; exit 3"], b"");
        assert!(matches!(failed, Err(PackageError::Tool { output, .. }) if output == "why"));
    }
}
