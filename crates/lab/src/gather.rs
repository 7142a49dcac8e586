//! Combination of segments: the rows of a whole spec from the files of its parts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use model::{row::Row, text::Text, units::Seed};

use crate::{
    LabError,
    segment::{
        Part, Segment, SegmentError,
        file::{Contents, Entry, Sweep},
    },
};

/// The combined results of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// The common sweep.
    pub sweep: Sweep,
    /// Segments that were found; tasks of array jobs are not among them.
    pub segments: BTreeSet<Segment>,
    /// Rows of the completed cells, in cell order, without their cost: identical for every split.
    pub rows: Vec<Row>,
    /// Number of completed cells.
    pub completed: usize,
    /// Cells that failed and were completed in no file.
    pub failed: Vec<Failed>,
    /// Indices of the cells without any result.
    pub missing: Vec<usize>,
    /// Truncated or damaged lines, with their number from 1. Their cells count as missing.
    pub unreadable: Vec<(PathBuf, usize)>,
}

/// A cell that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// Its index among all cells, from 0.
    pub cell: usize,
    /// Its seed.
    pub seed: Seed,
    /// The error.
    pub error: Text,
}

impl Gathered {
    /// Returns true if every cell is completed.
    pub fn is_complete(&self) -> bool {
        self.completed == self.sweep.cells
    }

    /// Segments with missing or failed cells, of the finest split that was found; none if all files
    /// are of array jobs.
    pub fn incomplete_segments(&self) -> Vec<Segment> {
        let count = self.segments.iter().map(|s| s.count()).max().unwrap_or(0);
        let failed = self.failed.iter().map(|failed| failed.cell);
        let open: BTreeSet<usize> = self.missing.iter().copied().chain(failed).collect();
        (1..=count)
            .filter_map(|number| Segment::new(number, count))
            .filter(|s| s.indices(self.sweep.cells).iter().any(|i| open.contains(i)))
            .collect()
    }

    /// BLAKE3 of the rows as JSON lines.
    ///
    /// # Errors
    /// A row cannot be written as JSON.
    pub fn digest(&self) -> Result<blake3::Hash, LabError> {
        let mut hash = blake3::Hasher::new();
        for row in &self.rows {
            hash.update(&serde_json::to_vec(row).map_err(LabError::GuestJob)?);
            hash.update(b"\n");
        }
        Ok(hash.finalize())
    }
}

/// Combines all segments in `folders`. A cell may be in several files, if they agree.
///
/// # Errors
/// A folder or file cannot be read; there is no segment; files belong to different specs, kernel
/// images or guest programs; two files have different results of a cell.
pub fn gather(folders: &[PathBuf]) -> Result<Gathered, LabError> {
    let mut all = Cells::default();
    let mut first: Option<(PathBuf, Sweep)> = None;
    let (mut segments, mut unreadable) = (BTreeSet::new(), Vec::new());
    for path in files(folders)? {
        let contents = Contents::read(&path)?;
        let sweep = contents.header.sweep;
        match &first {
            None => first = Some((path.clone(), sweep)),
            Some((other, known)) => {
                if let Some(what) = known.differs(&sweep) {
                    let (one, other) = (other.clone(), path);
                    return Err(SegmentError::OtherSweep { what, one, other }.into());
                }
            }
        }
        if let Part::Segment(segment) = contents.header.part {
            segments.insert(segment);
        }
        unreadable.extend(contents.unreadable.iter().map(|line| (path.clone(), *line)));
        for entry in contents.entries {
            all.add(&path, entry)?;
        }
    }
    let (_, sweep) = first.ok_or_else(|| SegmentError::None(folders.to_vec()))?;
    let missing = (0..sweep.cells).filter(|index| !all.has(*index)).collect();
    let failed = all.failed();
    Ok(Gathered {
        completed: all.completed.len(),
        rows: all
            .completed
            .into_values()
            .flat_map(|(_, rows)| rows)
            .collect(),
        sweep,
        segments,
        failed,
        missing,
        unreadable,
    })
}

/// The files of segments in folders, sorted by name.
fn files(folders: &[PathBuf]) -> Result<Vec<PathBuf>, LabError> {
    let mut files = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder).map_err(|source| SegmentError::Folder {
            folder: folder.clone(),
            source,
        })?;
        for entry in entries {
            let entry = entry.map_err(LabError::file("read", folder))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if Part::is_file_name(&name) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Results of cells by index.
#[derive(Default)]
struct Cells {
    /// Rows, and the file they are from.
    completed: BTreeMap<usize, (PathBuf, Vec<Row>)>,
    failed: BTreeMap<usize, (Seed, Text)>,
}

impl Cells {
    fn add(&mut self, path: &Path, entry: Entry) -> Result<(), SegmentError> {
        let Some(rows) = entry.rows else {
            let error = entry.error.unwrap_or_else(|| Text::fixed(""));
            self.failed.insert(entry.cell, (entry.seed, error));
            return Ok(());
        };
        let rows: Vec<Row> = rows.into_iter().map(Row::without_cost).collect();
        match self.completed.get(&entry.cell) {
            Some((other, known)) if *known != rows => Err(SegmentError::Differs {
                cell: entry.cell,
                seed: entry.seed,
                one: other.clone(),
                other: path.to_owned(),
            }),
            Some(_) => Ok(()),
            None => {
                self.completed.insert(entry.cell, (path.to_owned(), rows));
                Ok(())
            }
        }
    }

    fn has(&self, index: usize) -> bool {
        self.completed.contains_key(&index) || self.failed.contains_key(&index)
    }

    /// Cells without rows.
    fn failed(&self) -> Vec<Failed> {
        let failed = self
            .failed
            .iter()
            .filter(|(index, _)| !self.completed.contains_key(index));
        failed
            .map(|(index, (seed, error))| Failed {
                cell: *index,
                seed: *seed,
                error: error.clone(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use crate::segment::tests::{contents, entry, text};

    /// A folder for each of these files.
    fn folders(files: &[Contents]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let root = tempfile::tempdir().unwrap();
        let folders = files.iter().enumerate().map(|(n, file)| {
            let folder = root.path().join(n.to_string());
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(file.header.part.file_name()), text(file)).unwrap();
            folder
        });
        let folders = folders.collect();
        (root, folders)
    }

    /// The files of a split in `count`, each with its cells in some order.
    fn split(total: usize, count: usize) -> Vec<Contents> {
        let segments = (1..=count).map(|number| Segment::new(number, count).unwrap());
        segments
            .map(|segment| {
                let mut cells = segment.indices(total);
                cells.reverse();
                contents(total, &segment.to_string(), &cells)
            })
            .collect()
    }

    fn json(rows: &[Row]) -> Vec<u8> {
        serde_json::to_vec(rows).unwrap()
    }

    proptest! {
        #[test]
        fn every_split_gives_the_same_bytes(total in 1usize..60, count in 1usize..9) {
            let (_one, whole) = folders(&split(total, 1));
            let (_many, parts) = folders(&split(total, count));
            let (whole, parts) = (gather(&whole).unwrap(), gather(&parts).unwrap());
            prop_assert!(whole.is_complete() && parts.is_complete());
            prop_assert_eq!(json(&whole.rows), json(&parts.rows));
            prop_assert_eq!(whole.digest().unwrap(), parts.digest().unwrap());
            // The output of a single machine, except for the cost.
            let expected: Vec<Row> = (0..total)
                .flat_map(|cell| entry(cell).rows.unwrap())
                .map(Row::without_cost)
                .collect();
            prop_assert_eq!(json(&parts.rows), json(&expected));
        }
    }

    #[test]
    fn missing_and_failed_cells_are_named_with_the_segments_that_have_them() {
        let mut files = split(20, 4);
        let lost = files.remove(2);
        let failed = files[0].entries[1].cell;
        files[0].entries[1] = Entry {
            rows: None,
            error: Some(model::text!("the guest ended")),
            ..entry(failed)
        };
        let (_root, folders) = folders(&files);
        let gathered = gather(&folders).unwrap();
        assert_eq!(gathered.completed, 14);
        assert!(!gathered.is_complete());
        let seed = Seed(failed as u64);
        let error = model::text!("the guest ended");
        let cell = failed;
        assert_eq!(gathered.failed, [Failed { cell, seed, error }]);
        assert_eq!(gathered.missing, Segment::new(3, 4).unwrap().indices(20));
        assert_eq!(gathered.missing.len(), lost.entries.len());
        let open = gathered.incomplete_segments();
        assert_eq!(
            open.iter().map(Segment::to_string).collect::<Vec<_>>(),
            ["1/4", "3/4"]
        );
    }

    #[test]
    fn a_cell_that_failed_on_one_machine_and_ran_on_another_is_complete() {
        let mut first = contents(1, "1/1", &[0]);
        first.entries[0].rows = None;
        first.entries[0].error = Some(model::text!("out of memory"));
        let (_root, folders) = folders(&[first, contents(1, "1/1", &[0])]);
        let gathered = gather(&folders).unwrap();
        assert!(gathered.is_complete() && gathered.failed.is_empty());
    }

    #[test]
    fn results_that_do_not_repeat_are_refused_and_other_costs_are_not() {
        let mut other = contents(2, "1/1", &[0, 1]);
        let row = &mut other.entries[1].rows.as_mut().unwrap()[0];
        row.wall_s = Some(99.0);
        let (_root, same) = folders(&[contents(2, "1/1", &[0, 1]), other.clone()]);
        assert!(gather(&same).unwrap().is_complete());
        other.entries[1].rows.as_mut().unwrap()[0].digest = "e".to_owned();
        let (_root, differ) = folders(&[contents(2, "1/1", &[0, 1]), other]);
        let error = gather(&differ).unwrap_err();
        assert!(matches!(
            error,
            LabError::Segment(SegmentError::Differs { cell: 1, .. })
        ));
    }

    #[test]
    fn segments_of_different_specs_are_refused() {
        let mut other = contents(2, "2/2", &[1]);
        other.header.sweep.spec = "another".to_owned();
        let (_root, folders) = folders(&[contents(2, "1/2", &[0]), other]);
        let error = gather(&folders).unwrap_err();
        assert!(matches!(
            error,
            LabError::Segment(SegmentError::OtherSweep { what: "spec", .. })
        ));
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap().path().join("gone");
        let error = gather(std::slice::from_ref(&folder)).unwrap_err();
        assert!(matches!(
            &error,
            LabError::Segment(SegmentError::Folder { .. })
        ));
        let error = error.to_string();
        assert!(error.contains(&*folder.to_string_lossy()), "{error}");
        assert!(error.contains("--out"), "{error}");
    }

    #[test]
    fn a_folder_without_segments_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = gather(&[folder.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains(&*folder.path().to_string_lossy()), "{error}");
    }
}
