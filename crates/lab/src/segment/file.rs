//! File of a segment: a header, then one line per cell.
//!
//! Each line is one write, so a run that was killed leaves complete lines and at most one truncated
//! line, which is ignored: its cell is run again.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use model::{cell::Cell, row::Row, text::Text, units::Seed};
use serde::{Deserialize, Serialize};
use sys::files::{Existing, Readers};

use super::{error::SegmentError, part::Part};
use crate::{Lab, LabError, cell::CellResult, rows};

/// Version of the file.
pub const SEGMENT_SCHEMA: u32 = 1;

/// Identity of a sweep: files that differ in it belong to different sweeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// [`SEGMENT_SCHEMA`] of the writer.
    pub schema: u32,
    /// Name of the spec.
    pub name: String,
    /// Cells of the whole spec.
    pub cells: usize,
    /// BLAKE3 of all cells, in hex.
    pub spec: String,
    /// SHA-256 of the kernel image, in hex; of several, joined by `+`.
    pub kernel: String,
    /// BLAKE3 of the guest program, in hex.
    pub guest: String,
}

impl Sweep {
    /// The sweep of a spec, by its name and cells.
    ///
    /// # Errors
    /// The cells cannot be written as JSON.
    pub fn new(lab: &Lab, name: &str, cells: &[Cell]) -> Result<Self, LabError> {
        let text = serde_json::to_vec(cells).map_err(LabError::GuestJob)?;
        Ok(Self {
            schema: SEGMENT_SCHEMA,
            name: name.to_owned(),
            cells: cells.len(),
            spec: blake3::hash(&text).to_hex().to_string(),
            kernel: lab.image_hashes(cells)?,
            guest: lab.guest_hash().to_hex().to_string(),
        })
    }

    /// The first part in which two sweeps differ; absent = none.
    pub fn differs(&self, other: &Self) -> Option<&'static str> {
        let parts = [
            ("schema", self.schema == other.schema),
            (
                "spec",
                (&self.name, self.cells, &self.spec) == (&other.name, other.cells, &other.spec),
            ),
            ("kernel image", self.kernel == other.kernel),
            ("guest program", self.guest == other.guest),
        ];
        parts
            .into_iter()
            .find(|(_, same)| !same)
            .map(|(what, _)| what)
    }
}

/// First line of a segment's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The part: the field `segment` or `task`.
    #[serde(flatten)]
    pub part: Part,
    /// The sweep it is a part of.
    #[serde(flatten)]
    pub sweep: Sweep,
}

impl Header {
    /// The header of the file of a part of a spec, by the spec's name and cells.
    pub(super) fn new(lab: &Lab, part: Part, name: &str, cells: &[Cell]) -> Result<Self, LabError> {
        Ok(Self {
            part,
            sweep: Sweep::new(lab, name, cells)?,
        })
    }
}

/// Result of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Index of the cell among all cells, from 0.
    pub cell: usize,
    /// Its seed.
    pub seed: Seed,
    /// Its rows; absent = it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Row>>,
    /// The error, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
}

/// Contents of a segment's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// Its first line.
    pub header: Header,
    /// Results in the order in which the cells ended.
    pub entries: Vec<Entry>,
    /// Numbers of lines that are truncated or damaged, from 1.
    pub unreadable: Vec<usize>,
}

impl Contents {
    /// Parses the bytes of a file; `file` names it in errors.
    ///
    /// # Errors
    /// It is not the file of a segment, or one of a newer program.
    pub fn parse(file: &Path, text: &[u8]) -> Result<Self, SegmentError> {
        let mut lines = text.split(|byte| *byte == b'\n').enumerate();
        let (_, first) = lines.next().unwrap_or_default();
        let header: Header =
            serde_json::from_slice(first).map_err(|source| SegmentError::Header {
                file: file.to_owned(),
                source,
            })?;
        if header.sweep.schema > SEGMENT_SCHEMA {
            return Err(SegmentError::Newer {
                file: file.to_owned(),
                schema: header.sweep.schema,
                known: SEGMENT_SCHEMA,
            });
        }
        let (mut entries, mut unreadable) = (Vec::new(), Vec::new());
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            match serde_json::from_slice::<Entry>(line) {
                Ok(entry) if entry.cell < header.sweep.cells => entries.push(entry),
                _ => unreadable.push(number + 1),
            }
        }
        Ok(Self {
            header,
            entries,
            unreadable,
        })
    }

    /// Reads and parses a file.
    ///
    /// # Errors
    /// It cannot be read; as [`Self::parse`].
    pub fn read(file: &Path) -> Result<Self, LabError> {
        let text = fs::read(file).map_err(LabError::file("read", file))?;
        Ok(Self::parse(file, &text)?)
    }
}

/// A segment's file, open at its end.
#[derive(Debug)]
pub(super) struct SegmentFile {
    path: PathBuf,
    file: fs::File,
    completed: BTreeMap<usize, Vec<Row>>,
}

impl SegmentFile {
    /// Creates the file, or opens it to resume the segment.
    pub(super) fn open(folder: &Path, header: &Header, resume: bool) -> Result<Self, LabError> {
        fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
        let path = folder.join(header.part.file_name());
        let known = match Contents::read(&path) {
            Ok(contents) if resume => kept(&path, header, contents)?,
            Err(LabError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Vec::new()
            }
            Ok(_) => return Err(SegmentError::Exists(path).into()),
            Err(error) => return Err(error),
        };
        // Rewritten without failures and truncated lines, so that an appended line is a line.
        let mut text = line(header)?;
        for entry in &known {
            text.extend(line(entry)?);
        }
        let file = sys::files::write_open(&path, Readers::ByUmask, Existing::Replace, &text)
            .map_err(LabError::file("write", &path))?;
        Ok(Self {
            file,
            path,
            completed: known
                .into_iter()
                .filter_map(|entry| Some((entry.cell, entry.rows?)))
                .collect(),
        })
    }

    /// Returns true if it has the rows of a cell.
    pub(super) fn has(&self, index: usize) -> bool {
        self.completed.contains_key(&index)
    }

    /// Appends the result of a cell, unless it was stopped.
    pub(super) fn append(
        &mut self,
        index: usize,
        cell: &Cell,
        result: &Result<CellResult, LabError>,
    ) -> Result<(), LabError> {
        let (rows, error) = match result {
            Ok(result) => (Some(rows::rows(cell, result)?), None),
            Err(LabError::Stopped) => return Ok(()),
            Err(error) => (None, Some(error.text())),
        };
        let entry = Entry {
            cell: index,
            seed: cell.seed,
            rows,
            error,
        };
        let text = line(&entry)?;
        self.file
            .write_all(&text)
            .map_err(LabError::file("write", &self.path))?;
        self.check()?;
        if let Some(rows) = entry.rows {
            self.completed.insert(index, rows);
        }
        Ok(())
    }

    /// Checks whether the appended lines are in the folder: another start that continues the part
    /// has replaced the file.
    ///
    /// There is no lock, since one of a lost worker may stay for ever (NFS version 3), and whatever
    /// takes over from that worker must be able to continue its part.
    pub(super) fn check(&self) -> Result<(), LabError> {
        let open = self.file.metadata();
        let open = open.map_err(LabError::file("read", &self.path))?;
        match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (open.dev(), open.ino()) => Ok(()),
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(LabError::file("read", &self.path)(e))
            }
            _ => Err(SegmentError::Replaced(self.path.clone()).into()),
        }
    }

    /// All rows, in the order of the cells.
    pub(super) fn into_rows(self) -> Vec<Row> {
        self.completed.into_values().flatten().collect()
    }
}

/// The entries of an earlier run to keep: one per cell, without failures.
fn kept(path: &Path, header: &Header, contents: Contents) -> Result<Vec<Entry>, LabError> {
    if let Some(what) = header.sweep.differs(&contents.header.sweep) {
        let file = path.to_owned();
        return Err(SegmentError::OtherRun { what, file }.into());
    }
    let entries = contents.entries.into_iter().filter(|e| e.rows.is_some());
    let by_index: BTreeMap<usize, Entry> = entries.map(|entry| (entry.cell, entry)).collect();
    Ok(by_index.into_values().collect())
}

fn line(value: &impl Serialize) -> Result<Vec<u8>, LabError> {
    let mut text = serde_json::to_vec(value).map_err(LabError::GuestJob)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests;
