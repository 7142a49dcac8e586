//! The script of an array job.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Command of a task. All files are in folders that every worker sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script<'a> {
    /// `pathtwin`
    pub(super) program: PathBuf,
    /// The guest program.
    pub(super) guest: PathBuf,
    /// The kernel image.
    pub(super) kernel: PathBuf,
    /// The spec.
    pub(super) spec: PathBuf,
    /// Further arguments of `lab run`: `--set`, `--seed`.
    pub(super) arguments: &'a [String],
    /// The folder of the results.
    pub(super) folder: &'a Path,
    /// Number of the submission.
    pub(super) round: u32,
    /// Cells at once.
    pub(super) processors: usize,
}

impl Script<'_> {
    /// The text for sbatch.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = b"#!/bin/sh\n".to_vec();
        let mut add = |part: &[u8]| text.extend_from_slice(part);
        add(b"PATHTWIN_GUEST=");
        add(&quoted(self.guest.as_os_str()));
        add(b" PATHTWIN_KERNEL=");
        add(&quoted(self.kernel.as_os_str()));
        add(b"\nexport PATHTWIN_GUEST PATHTWIN_KERNEL\nexec ");
        add(&quoted(self.program.as_os_str()));
        add(b" lab run ");
        add(&quoted(self.spec.as_os_str()));
        for argument in self.arguments {
            add(b" ");
            add(&quoted(OsStr::new(argument)));
        }
        add(b" --out ");
        add(&quoted(self.folder.as_os_str()));
        let rest = format!(
            " --task \"{}/$SLURM_ARRAY_TASK_ID\" --resume --no-cache --jobs {} --output jsonl >/dev/null\n",
            self.round, self.processors
        );
        add(rest.as_bytes());
        text
    }
}

/// A word that a shell reads unchanged.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut text = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
    text
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, process::Command};

    use super::*;

    /// The shell is the judge: it runs the script with a `pathtwin` that prints its arguments.
    #[test]
    fn the_shell_passes_arguments_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("it's $HOME \"here\"");
        fs::create_dir(&place).unwrap();
        let program = place.join("path twin");
        let printed = place.join("printed");
        let text = "#!/bin/sh\nprintf '%s\\n' \"$PATHTWIN_GUEST\" \"$PATHTWIN_KERNEL\" \"$@\" >\"${0%/*}/printed\"\n";
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let given = ["--set", "name=$(reboot) 'a' `b` \\"].map(str::to_owned);
        let script = Script {
            program,
            guest: place.join("guest"),
            kernel: place.join("linux"),
            spec: place.join("spec.toml"),
            arguments: &given,
            folder: &place,
            round: 2,
            processors: 4,
        };
        let file = place.join("script");
        fs::write(&file, script.text()).unwrap();
        let status = Command::new("/bin/sh")
            .arg(&file)
            .env("SLURM_ARRAY_TASK_ID", "17")
            .status()
            .unwrap();
        assert!(status.success());
        let printed = fs::read_to_string(printed).unwrap();
        let path = |name: &str| place.join(name).display().to_string();
        let spec = path("spec.toml");
        let (guest, linux, out) = (path("guest"), path("linux"), place.display().to_string());
        let expected = [
            &guest,
            &linux,
            "lab",
            "run",
            &spec,
            &given[0],
            &given[1],
            "--out",
            &out,
            "--task",
            "2/17",
            "--resume",
            "--no-cache",
            "--jobs",
            "4",
            "--output",
            "jsonl",
        ];
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    }
}
