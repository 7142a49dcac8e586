//! Errors of segments and of their combination.

use std::path::PathBuf;

use model::units::Seed;

/// Error running or combining segments.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// A folder of results cannot be read.
    #[error("cannot read {}: {}; name the folders of --out", folder.display(), model::text::Value::from(source))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The first line of a file is not the header of a segment.
    #[error("{} does not begin like the file of a segment: {source}", file.display())]
    Header {
        /// The file.
        file: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A file of a newer program.
    #[error(
        "{} has schema {schema}, and this program knows up to {known}: update pathtwin",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its schema.
        schema: u32,
        /// The newest schema that this program reads.
        known: u32,
    },
    /// A segment has results, and is not to be resumed.
    #[error("{} exists: continue it with --resume, or remove it", .0.display())]
    Exists(PathBuf),
    /// The file of a segment was replaced or removed while it was run.
    #[error(
        "{} was replaced or removed while it was written, as by another run of the same part: let only one run, and \
         continue with --resume if cells are missing",
        .0.display()
    )]
    Replaced(PathBuf),
    /// A file has results of another sweep than the one to run.
    #[error(
        "{} was made with another {what}: choose another folder, or remove the file",
        file.display()
    )]
    OtherRun {
        /// The part that differs.
        what: &'static str,
        /// The file.
        file: PathBuf,
    },
    /// Two files have results of different sweeps.
    #[error("{} and {} were made with different versions of the {what}", one.display(), other.display())]
    OtherSweep {
        /// The part that differs.
        what: &'static str,
        /// One file.
        one: PathBuf,
        /// The other file.
        other: PathBuf,
    },
    /// No folder has the file of a segment.
    #[error(
        "there is no segment in {}: `pathtwin lab run SPEC --segment K/N --out DIR` makes one",
        .0.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    None(Vec<PathBuf>),
    /// Two files disagree on a cell.
    #[error(
        "cell {cell} (seed {seed}) has different results in {} and {}, with the same spec, kernel image and guest \
         program: run it on both machines with --no-cache to find the one whose runs do not repeat",
        one.display(), other.display()
    )]
    Differs {
        /// Index of the cell.
        cell: usize,
        /// Its seed.
        seed: Seed,
        /// One file.
        one: PathBuf,
        /// The other file.
        other: PathBuf,
    },
}
