//! Where a table comes from: specs, kernel image, guest program, and digests of the rows.

use std::path::Path;

use lab::gather::Gathered;
use serde::{Deserialize, Serialize};

/// Name of its file.
pub const FILE: &str = "source.json";

/// The specs of the atlas, in the order of the table. Each has its file in the folder of the atlas.
pub const SPECS: [&str; 5] = ["5mbit", "20mbit", "50mbit", "100mbit", "250mbit"];

/// The source of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// True if only some of the cells were run.
    pub sample: bool,
    /// Release of the kernel.
    pub kernel: String,
    /// SHA-256 of the kernel image.
    pub image: String,
    /// BLAKE3 of the guest program.
    pub guest: String,
    /// The specs.
    pub specs: Vec<Sweep>,
    /// BLAKE3 of the rows of all specs as JSON lines, one after the other.
    pub rows: String,
    /// BLAKE3 of the table.
    pub table: String,
}

/// A spec and its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// Name of the spec's file, without its extension.
    pub file: String,
    /// Number of cells that were run.
    pub cells: usize,
    /// BLAKE3 of the rows, as `lab gather` prints it.
    pub rows: String,
}

/// Results that do not belong together.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The specs ran with different kernels or guest programs.
    #[error("{0} was run with another kernel image or guest program than the specs before it")]
    Mixed(String),
    /// Not all cells are there.
    #[error(
        "{file} has {completed} of {cells} cells: run the rest, or publish a sample with --sample"
    )]
    Incomplete {
        /// The spec.
        file: String,
        /// Cells with rows.
        completed: usize,
        /// All cells.
        cells: usize,
    },
    /// No rows at all.
    #[error("there are no rows")]
    Empty,
    /// The rows cannot be hashed.
    #[error("hash the rows: {0}")]
    Hash(#[from] lab::LabError),
    /// The rows cannot be written as JSON.
    #[error("write rows as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Source {
    /// The source of the gathered results of specs, by the name of each, and the text of the table.
    ///
    /// # Errors
    /// The specs ran with different kernels or guest programs, or cells are missing and this is no
    /// sample.
    pub fn new(
        results: &[(String, Gathered)],
        table: &str,
        sample: bool,
    ) -> Result<Self, SourceError> {
        let (_, first) = results.first().ok_or(SourceError::Empty)?;
        let row = first.rows.first().ok_or(SourceError::Empty)?;
        let mut all = blake3::Hasher::new();
        let mut specs = Vec::new();
        for (file, gathered) in results {
            let sweep = &gathered.sweep;
            let same = sweep.kernel == first.sweep.kernel && sweep.guest == first.sweep.guest;
            if !same {
                return Err(SourceError::Mixed(file.clone()));
            }
            if !sample && !gathered.is_complete() {
                return Err(SourceError::Incomplete {
                    file: file.clone(),
                    completed: gathered.completed,
                    cells: sweep.cells,
                });
            }
            for row in &gathered.rows {
                all.update(&serde_json::to_vec(row)?);
                all.update(b"\n");
            }
            specs.push(Sweep {
                file: file.clone(),
                cells: gathered.completed,
                rows: gathered.digest()?.to_hex().to_string(),
            });
        }
        Ok(Self {
            sample,
            kernel: row.kernel.clone(),
            image: first.sweep.kernel.clone(),
            guest: first.sweep.guest.clone(),
            specs,
            rows: all.finalize().to_hex().to_string(),
            table: blake3::hash(table.as_bytes()).to_hex().to_string(),
        })
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.specs.iter().map(|sweep| sweep.cells).sum()
    }
}

/// The name that rows of a spec have.
pub fn name(file: &str) -> String {
    format!("atlas-{file}")
}

/// The name of the file of a spec, by the name that its rows have.
pub fn file(name: &str) -> &str {
    name.strip_prefix("atlas-").unwrap_or(name)
}

/// The file of a spec.
pub fn spec(folder: &Path, file: &str) -> std::path::PathBuf {
    folder.join(format!("{file}.toml"))
}
