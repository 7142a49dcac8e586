//! Folder of an array job, visible to every worker: everything that its tasks need.
//!
//! Program, guest program, kernel image, spec and the files that it names are copied there, so that
//! a job that waits for hours runs the submitted versions, even if others are installed in the
//! meantime.

use std::{
    collections::BTreeSet,
    fs, io,
    ops::Range,
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
};

use model::spec::NamedFile;
use sys::files::{Existing, Readers};

use super::{
    BatchError,
    round::{Left, Round},
};
use crate::{
    LabError, guest,
    segment::{
        Part, TaskId,
        file::{Contents, Sweep},
    },
};

/// Folder in the folder of the results.
const FOLDER: &str = "slurm";

/// The files of an array job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    results: PathBuf,
}

impl Files {
    /// The files of the array job whose results are in `results`.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(results: &Path) -> Result<Self, LabError> {
        fs::create_dir_all(results).map_err(LabError::file("create", results))?;
        let results = results
            .canonicalize()
            .map_err(LabError::file("find", results))?;
        Ok(Self { results })
    }

    /// The folder of the results.
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// The folder of everything except results.
    pub fn folder(&self) -> PathBuf {
        self.results.join(FOLDER)
    }

    /// The copy of this program.
    pub(super) fn program(&self) -> PathBuf {
        self.folder().join("pathtwin")
    }

    /// The copy of the guest program.
    pub fn guest(&self) -> PathBuf {
        self.folder().join("pathtwin-guest")
    }

    /// The copy of the kernel image.
    pub fn kernel(&self) -> PathBuf {
        self.folder().join("linux")
    }

    /// The copy of the spec, under its original name, which is the default name of its rows.
    pub(super) fn spec(&self, spec: &Path) -> PathBuf {
        let name = spec.file_name().unwrap_or("spec.toml".as_ref());
        self.folder().join("spec").join(name)
    }

    /// The file of a task's messages; `%a` is replaced by the scheduler.
    pub(super) fn log(&self, round: u32, task: &str) -> PathBuf {
        self.folder().join(format!("log-{round}-{task}.txt"))
    }

    /// Returns true if there is a submission.
    pub fn exist(&self) -> bool {
        self.folder().join(Round::file_name(0)).exists()
    }

    /// The cells of a task of the sweep.
    ///
    /// # Errors
    /// The submission's document cannot be read, belongs to another sweep, or has no such task.
    pub fn cells_of(&self, task: TaskId, sweep: &Sweep) -> Result<Vec<usize>, LabError> {
        let round = Round::read(&self.folder(), task.round)?;
        if let Some(what) = sweep.differs(&round.sweep) {
            let folder = self.results.clone();
            return Err(BatchError::OtherRun { what, folder }.into());
        }
        let number = usize::try_from(task.task).unwrap_or(usize::MAX);
        let cells = round.tasks.into_iter().nth(number);
        cells.ok_or_else(|| {
            let file = self.folder().join(Round::file_name(task.round));
            let task = task.task;
            BatchError::NoTask { file, task }.into()
        })
    }

    /// Copies the files that the tasks need.
    pub(super) fn copy(
        &self,
        spec: &Path,
        named: &[NamedFile],
        kernel: &Path,
    ) -> Result<(), LabError> {
        self.copy_named(named)?;
        let program = std::env::current_exe().map_err(LabError::file("find", "this program"))?;
        copy(&program, &self.program(), 0o755)?;
        copy(&guest::program()?, &self.guest(), 0o755)?;
        copy(kernel, &self.kernel(), 0o755)?;
        copy(spec, &self.spec(spec), 0o644)
    }

    /// Copies the files that the spec names to the folder of its copy. If one cannot be, none is.
    pub(super) fn copy_named(&self, named: &[NamedFile]) -> Result<(), LabError> {
        let specs = self.folder().join("spec");
        let mut places = Vec::new();
        for file in named {
            if let Some(place) = beside(&file.name)? {
                places.push((specs.join(place), file));
            }
        }
        fs::create_dir_all(&specs).map_err(LabError::file("create", &specs))?;
        for (place, file) in places {
            let folder = place.parent().unwrap_or(&specs);
            fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
            write(&place, file.text.as_bytes(), 0o644)?;
        }
        Ok(())
    }

    /// Result of each task of a submission; `None` = it ended before it had a file, so before it
    /// ran a cell.
    pub(super) fn left(&self, round: &Round) -> Result<Vec<Option<Left>>, LabError> {
        self.refresh();
        let tasks = 0..round.tasks.len();
        tasks
            .map(|task| {
                let part = Part::Task(round.task(task));
                match Contents::read(&self.results.join(part.file_name())) {
                    Ok(contents) => Ok(Some(left(&contents))),
                    Err(LabError::File { source, .. })
                        if source.kind() == io::ErrorKind::NotFound =>
                    {
                        Ok(None)
                    }
                    // The task ended while it wrote the first line.
                    Err(LabError::Segment(_)) => Ok(None),
                    Err(error) => Err(error),
                }
            })
            .collect()
    }

    /// Cells with rows in the files of some submissions.
    pub(super) fn completed(&self, rounds: Range<u32>) -> Result<BTreeSet<usize>, LabError> {
        let mut all = BTreeSet::new();
        for number in rounds {
            let round = Round::read(&self.folder(), number)?;
            let left = self.left(&round)?.into_iter().flatten();
            all.extend(left.flat_map(|left| left.done));
        }
        Ok(all)
    }

    /// Cells that have ended in a submission, for display: its lines, without parsing them.
    pub(super) fn ended(&self, round: &Round) -> usize {
        let tasks = 0..round.tasks.len();
        tasks
            .filter_map(|task| {
                let part = Part::Task(round.task(task));
                let text = fs::read(self.results.join(part.file_name())).ok()?;
                let lines = text.iter().filter(|byte| **byte == b'\n').count();
                Some(lines.saturating_sub(1))
            })
            .sum()
    }

    /// Modifies the folder, so that an NFS client invalidates its negative entries.
    fn refresh(&self) {
        let file = self.results.join(".refresh");
        let _ = fs::write(&file, "").and_then(|()| fs::remove_file(&file));
    }
}

fn left(contents: &Contents) -> Left {
    let mut left = Left::default();
    for entry in &contents.entries {
        match entry.rows {
            Some(_) => left.done.insert(entry.cell),
            None => left.failed.insert(entry.cell),
        };
    }
    left
}

/// Path of a named file relative to the spec; `None` if it is absolute, and every worker has it.
fn beside(name: &str) -> Result<Option<&Path>, BatchError> {
    let path = Path::new(name);
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    match path.is_absolute() {
        true => Ok(None),
        false if path.components().all(inside) => Ok(Some(path)),
        false => Err(BatchError::Outside(name.to_owned())),
    }
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<(), LabError> {
    let bytes = fs::read(from).map_err(LabError::file("read", from))?;
    write(to, &bytes, mode)
}

/// Writes a file atomically: a task never sees a half of it.
fn write(to: &Path, bytes: &[u8], mode: u32) -> Result<(), LabError> {
    sys::files::write(to, Readers::ByUmask, Existing::Replace, bytes)
        .and_then(|()| fs::set_permissions(to, fs::Permissions::from_mode(mode)))
        .map_err(LabError::file("write", to))
}
