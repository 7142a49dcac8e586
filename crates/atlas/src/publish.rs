//! Everything that is published, from results or from the published table.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lab::gather::{self, Gathered};

use crate::{
    cell::{Cell, CellError},
    finding::{self, Found},
    heat, page,
    readme::{self, NoMark},
    rules,
    source::{self, SPECS, Source, SourceError},
    table::{self, TableError},
};

/// Folder of the heat maps.
pub const MAPS: &str = "maps";

/// Error of publishing.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// A file cannot be read or written.
    #[error("{operation} {file}: {source}")]
    File {
        /// The operation.
        operation: &'static str,
        /// The file.
        file: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// Results cannot be gathered.
    #[error("gather the results of {0}: {1}")]
    Gather(String, Box<lab::LabError>),
    /// Rows are of another kind of spec.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// Results do not belong together.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The table is damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The README lacks a mark.
    #[error(transparent)]
    Readme(#[from] NoMark),
    /// A document cannot be read or written as JSON.
    #[error("JSON of {0}: {1}")]
    Json(&'static str, serde_json::Error),
}

/// An atlas: what is published, in memory.
#[derive(Clone, Debug)]
pub struct Atlas {
    /// The cells, in the order of the table.
    pub cells: Vec<Cell>,
    /// Where they come from.
    pub source: Source,
}

impl Atlas {
    /// The atlas of results: a folder for each spec, with the files of its segments.
    ///
    /// # Errors
    /// Results are missing (unless this is a sample), damaged, or do not belong together.
    pub fn of_results(folder: &Path, sample: bool) -> Result<Self, PublishError> {
        let gather = |file: &str| {
            let gathered = gather::gather(&[folder.join(file)]);
            let failed = |e| PublishError::Gather(file.to_owned(), Box::new(e));
            Ok((file.to_owned(), gathered.map_err(failed)?))
        };
        // A sample may leave out whole specs.
        let present = SPECS
            .iter()
            .filter(|file| !sample || folder.join(file).exists());
        let results: Result<Vec<_>, PublishError> = present.map(|file| gather(file)).collect();
        let results = results?;
        let mut cells = Vec::new();
        for (file, gathered) in &results {
            cells.extend(of_sweep(file, gathered)?);
        }
        let source = Source::new(&results, &table::csv(&cells), sample)?;
        Ok(Self { cells, source })
    }

    /// The atlas that a folder has.
    ///
    /// # Errors
    /// A file cannot be read or is damaged.
    pub fn read(folder: &Path) -> Result<Self, PublishError> {
        let source = read(&folder.join(source::FILE))?;
        let source = serde_json::from_str(&source);
        Ok(Self {
            cells: table::parse(&read(&folder.join(table::FILE))?)?,
            source: source.map_err(|e| PublishError::Json(source::FILE, e))?,
        })
    }

    /// What the cells show.
    pub fn findings(&self) -> Vec<Found> {
        rules::found(&self.cells)
    }

    /// All files with their content. `readme`: the present README, whose text between its generated
    /// parts is kept.
    ///
    /// # Errors
    /// A document cannot be written as JSON, or the README lacks a mark.
    pub fn files(&self, readme: &str) -> Result<Vec<(PathBuf, String)>, PublishError> {
        let found = self.findings();
        let source = serde_json::to_string_pretty(&self.source);
        let source = source.map_err(|e| PublishError::Json(source::FILE, e))?;
        let lines = finding::lines(&found).map_err(|e| PublishError::Json(finding::FILE, e))?;
        let readme = readme::filled(readme, &self.cells, &self.source, &found)?;
        let mut files = vec![
            (PathBuf::from(table::FILE), table::csv(&self.cells)),
            (PathBuf::from(source::FILE), format!("{source}\n")),
            (PathBuf::from(finding::FILE), lines),
            (PathBuf::from(readme::FILE), readme),
            (
                PathBuf::from(page::FILE),
                page::html(&self.cells, &self.source, &found),
            ),
        ];
        for map in heat::all() {
            let file = Path::new(MAPS).join(format!("{}.svg", map.file));
            files.push((file, map.svg(&self.cells)));
        }
        Ok(files)
    }

    /// Writes all files to a folder with a README, and returns their names.
    ///
    /// # Errors
    /// As [`Atlas::files`], or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, PublishError> {
        let files = self.files(&read(&folder.join(readme::FILE))?)?;
        let maps = folder.join(MAPS);
        fs::create_dir_all(&maps).map_err(at("create", &maps))?;
        let mut names = Vec::new();
        for (name, text) in files {
            let file = folder.join(name);
            fs::write(&file, text).map_err(at("write", &file))?;
            names.push(file);
        }
        Ok(names)
    }
}

/// The cells of a gathered spec. The rows of a cell follow each other, and that of its measured
/// traffic is the first.
fn of_sweep(file: &str, gathered: &Gathered) -> Result<Vec<Cell>, CellError> {
    let name = source::name(file);
    let absent: std::collections::BTreeSet<usize> = {
        let failed = gathered.failed.iter().map(|failed| failed.cell);
        gathered.missing.iter().copied().chain(failed).collect()
    };
    let present = (0..gathered.sweep.cells).filter(|index| !absent.contains(index));
    let mut rest = gathered.rows.as_slice();
    let mut cells = Vec::new();
    for index in present {
        let others = rest.iter().skip(1).take_while(|row| row.cross.is_some());
        let (own, after) = rest.split_at((1 + others.count()).min(rest.len()));
        cells.push(Cell::of_rows(&name, index, own)?);
        rest = after;
    }
    Ok(cells)
}

fn read(file: &Path) -> Result<String, PublishError> {
    fs::read_to_string(file).map_err(at("read", file))
}

fn at(operation: &'static str, file: &Path) -> impl FnOnce(std::io::Error) -> PublishError {
    let file = file.to_owned();
    move |source| PublishError::File {
        operation,
        file,
        source,
    }
}
