//! The spec grammar: a user's description of a path, and its cells.
//!
//! ```
//! let spec = model::spec::Spec::parse("dorm.toml", r#"
//!     [path]
//!     rtt = "24ms"
//!     rate = "100mbit"
//!     [matrix]
//!     "ends.server.cc" = ["cubic", "bbr"]
//! "#)?;
//! assert_eq!(spec.cells()?.len(), 2);
//! # Ok::<(), model::spec::SpecError>(())
//! ```

mod build;
mod document;
mod error;
mod keys;
mod kind;
mod line;
mod load;
mod matrix;
pub mod nearest;
mod place;
mod profile;
pub mod quantity;
mod reason;
mod reference;
mod scalar;
pub mod steps;
mod text;
mod value;
mod view;
mod write;

use std::collections::BTreeSet;

pub use error::{Problem, SpecError};
pub use place::Place;
pub use reason::Reason;
pub use reference::reference;
pub use write::write;

use crate::{cell::Cell, units::Seed};
use build::Frame;
use document::Document;
use error::Problems;
use matrix::{Factor, Level};
use quantity::{ReadError, StepsError, ValueError};
use reason::MAX_CELLS;
use steps::StepsText;
use text::Entry;
use value::{Scalar, Value};
use view::View;

/// A spec with checked keys and single values. Combinations are checked by [`Spec::cells`].
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Name, in rows and in output folders.
    pub name: String,
    /// The files that it names, by name, once [`Spec::with_files`] has read them.
    pub files: Vec<NamedFile>,
    file: String,
    document: Document,
    seed: u64,
    repeats: u64,
    /// True if [`Spec::set`] was used; values of the file may then have no effect.
    overridden: bool,
}

/// A file that a spec names, such as a trace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedFile {
    /// Its path as written; a relative one is relative to the spec.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// Returns true if a dotted key of a spec, such as `path.down.loss`, is a loss.
pub fn is_loss(key: &str) -> bool {
    keys::find(key).is_some_and(|key| matches!(key.kind, kind::Kind::Loss))
}

impl Spec {
    /// Parses a spec. `file_name` is for messages, and the default name of the spec.
    ///
    /// # Errors
    /// The text is not TOML, or has unknown keys or invalid values.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, SpecError> {
        let mut problems = Problems::default();
        let document = document::read(text, &mut problems);
        let mut spec = Self {
            name: String::new(),
            files: Vec::new(),
            file: file_name.to_owned(),
            document,
            seed: 0,
            repeats: 0,
            overridden: false,
        };
        spec.read_top();
        problems.or(file_name, spec)
    }

    /// Reads the files that the spec names, with `read`, which gets the name as written.
    ///
    /// # Errors
    /// A file cannot be read, or is not a trace.
    pub fn with_files(
        mut self,
        mut read: impl FnMut(&str) -> std::io::Result<String>,
    ) -> Result<Self, SpecError> {
        let mut problems = Problems::default();
        let levels = self.document.factors.iter_mut().flat_map(|f| &mut f.levels);
        let varied = levels.flat_map(|level| level.entries.iter_mut());
        for (key, entry) in self.document.base.iter_mut().chain(varied) {
            let Value::Steps(StepsText::File(file)) = &entry.value else {
                continue;
            };
            let unread = |e: std::io::Error| StepsError::Unread {
                file: file.clone(),
                why: ReadError::from(&e),
            };
            let read = read(file).map_err(unread);
            match read.and_then(|text| Ok((steps::trace(file, &text)?, text))) {
                Ok((steps, text)) => {
                    let name = file.clone();
                    self.files.push(NamedFile { name, text });
                    entry.value = Value::Steps(StepsText::Steps(steps));
                }
                Err(error) => problems.add(entry.place, key, ValueError::from(error)),
            }
        }
        self.files.sort();
        self.files.dedup();
        problems.or(&self.file.clone(), self)
    }

    /// The spec with another seed for its first repeat. Seeds wrap at 2^64.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        let entry = Entry {
            value: Value::Count(seed),
            place: Place::Set,
        };
        self.document.base.insert("seed".to_owned(), entry);
        self.read_top();
        self
    }

    /// Sets one key, as `--set key=value` does. It overrides the file and replaces a factor of the
    /// same name. For a factor with labels, `value` selects the level.
    ///
    /// # Errors
    /// The key is unknown, the value is invalid, or the matrix sets it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        let scalar = match keys::is_kernel(key) {
            true => Scalar::Text(value.trim_matches('"').to_owned()),
            false => Scalar::from_argument(value),
        };
        let mut problems = Problems::default();
        match self.set_checked(key, &scalar) {
            Ok(()) => self.read_top(),
            Err(reason) => problems.add(Place::Set, key, reason),
        }
        problems.or(&self.file, ())
    }

    /// The keys of the matrix, in the order of the file.
    pub fn matrix_keys(&self) -> Vec<&str> {
        self.document
            .factors
            .iter()
            .map(|f| f.name.as_str())
            .collect()
    }

    /// All cells: the last matrix key varies fastest, then the repeats.
    ///
    /// # Errors
    /// A combination is invalid, there are too many cells, or a value is not used by any cell.
    pub fn cells(&self) -> Result<Vec<Cell>, SpecError> {
        let mut problems = Problems::default();
        let mut used = BTreeSet::new();
        let mut cells = Vec::new();
        if self.refuse_too_many(&mut problems) {
            return problems.or(&self.file, cells);
        }
        for levels in combinations(&self.document.factors) {
            let cell = self.cell(&levels, &mut used, &mut problems);
            if cell.is_none() && problems.is_empty() {
                problems.add(Place::File, "", Reason::NoCell);
            }
            cells.extend(cell.into_iter().flat_map(|cell| self.repeats_of(&cell)));
        }
        self.refuse_unused(&used, &mut problems);
        problems.or(&self.file, cells)
    }

    /// The first cell, and the number of all: for commands that need one path.
    ///
    /// # Errors
    /// As [`Spec::cells`].
    pub fn first_cell(&self) -> Result<(Cell, usize), SpecError> {
        let cells = self.cells()?;
        let number = cells.len();
        let mut problems = Problems::default();
        let Some(first) = cells.into_iter().next() else {
            problems.add(Place::File, "", Reason::NoCell);
            return Err(problems.error(&self.file));
        };
        Ok((first, number))
    }

    fn cell(
        &self,
        levels: &[&Level],
        used: &mut BTreeSet<String>,
        problems: &mut Problems,
    ) -> Option<Cell> {
        let base = &self.document.base;
        let frame = Frame {
            name: &self.name,
            factors: &self.document.factors,
            crosses: self.document.crosses,
        };
        build::cell(
            &mut View {
                base,
                levels,
                used,
                problems,
            },
            &frame,
        )
    }

    fn repeats_of(&self, cell: &Cell) -> Vec<Cell> {
        let seeds = (0..self.repeats).map(|r| Seed(self.seed.wrapping_add(r)));
        seeds
            .map(|seed| Cell {
                seed,
                ..cell.clone()
            })
            .collect()
    }

    /// Takes name, seed and repeats from the document.
    fn read_top(&mut self) {
        let (mut used, mut problems) = (BTreeSet::new(), Problems::default());
        let base = &self.document.base;
        let mut view = View {
            base,
            levels: &[],
            used: &mut used,
            problems: &mut problems,
        };
        let (name, seed, repeats) = (
            view.plain("name"),
            view.plain("seed"),
            view.plain("repeats"),
        );
        self.name = name.unwrap_or_else(|| name_of_file(&self.file));
        self.seed = seed.unwrap_or(1);
        self.repeats = repeats.unwrap_or(1);
    }

    fn set_checked(&mut self, key: &str, scalar: &Scalar) -> Result<(), Reason> {
        let crosses = self.document.crosses;
        if let Some(factor) = self.document.factors.iter_mut().find(|f| f.name == key) {
            let level = pick(factor, key, scalar, crosses)?;
            *factor = factor.fixed(level);
        } else if let Some(factor) = self.document.factors.iter().find(|f| f.sets(key)) {
            return Err(Reason::InMatrix(factor.name.clone()));
        } else {
            let entry = text::check(key, scalar, Place::Set, crosses)?;
            self.document.base.insert(key.to_owned(), entry);
        }
        self.overridden = true;
        Ok(())
    }

    /// Rejects a matrix that is too large.
    fn refuse_too_many(&self, problems: &mut Problems) -> bool {
        let sizes = self.document.factors.iter().map(|f| f.levels.len() as u64);
        let total = sizes.chain([self.repeats]).try_fold(1u64, u64::checked_mul);
        let fits = total.is_some_and(|total| total <= MAX_CELLS);
        if !fits {
            problems.add(Place::File, "matrix", Reason::TooManyCells { cells: total });
        }
        !fits
    }

    /// Rejects values without effect: of the matrix, of `--set`, and of keys that only some kinds
    /// of traffic or tunnels have.
    fn refuse_unused(&self, used: &BTreeSet<String>, problems: &mut Problems) {
        if !problems.is_empty() {
            return;
        }
        let free = |name: &str| matrix::FIXED.contains(&name) || name == "tunnel";
        let unused = |name: &str| !free(name) && !used.contains(name);
        for (name, Entry { place, .. }) in &self.document.base {
            let special = !self.overridden && self.is_special(name);
            if unused(name) && (special || *place == Place::Set) {
                problems.add(*place, name, Reason::Unused);
            }
        }
        for level in self.document.factors.iter().flat_map(|f| &f.levels) {
            for name in level
                .entries
                .keys()
                .filter(|name| !self.overridden && unused(name))
            {
                problems.add(level.place, name, Reason::Unused);
            }
        }
    }

    fn is_special(&self, name: &str) -> bool {
        let of_kind = ["rate", "payload", "size", "requests", "every", "cc"];
        let of_stage = ["policer_burst", "peak_burst", "shape_queue"];
        let leaf = name.rsplit_once('.').map_or(name, |(_, leaf)| leaf);
        let loads = name.starts_with("traffic.") || name.starts_with("cross.");
        let stage = of_stage.contains(&leaf);
        stage || name.starts_with("tunnel.") || loads && of_kind.contains(&leaf)
    }
}

/// The level selected by a `--set`: by its label, or a new one.
fn pick(factor: &Factor, key: &str, scalar: &Scalar, crosses: usize) -> Result<Level, Reason> {
    let shown = scalar.json();
    if let Some(level) = factor.levels.iter().find(|level| level.shown == shown) {
        return Ok(Level {
            place: Place::Set,
            ..level.clone()
        });
    }
    if keys::find(key).is_none() {
        let labels: Vec<String> = factor.levels.iter().map(|l| l.shown.to_string()).collect();
        return Err(Reason::NoLevel {
            value: scalar.to_string(),
            labels,
        });
    }
    let entry = text::check(key, scalar, Place::Set, crosses)?;
    Ok(Level {
        shown,
        entries: [(key.to_owned(), entry)].into(),
        place: Place::Set,
    })
}

/// All combinations of levels; the last factor varies fastest.
fn combinations(factors: &[Factor]) -> impl Iterator<Item = Vec<&Level>> {
    let total: usize = factors.iter().map(|f| f.levels.len()).product();
    (0..total).map(move |mut index| {
        let mut levels: Vec<&Level> = Vec::with_capacity(factors.len());
        for factor in factors.iter().rev() {
            levels.push(&factor.levels[index % factor.levels.len()]);
            index /= factor.levels.len();
        }
        levels.reverse();
        levels
    })
}

/// The default name: the stem of the file's name, with invalid characters replaced.
fn name_of_file(file: &str) -> String {
    let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = last.strip_suffix(".toml").unwrap_or(last);
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = stem
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .take(100)
        .collect();
    match name.trim_start_matches('.') {
        "" => "spec".to_owned(),
        name => name.to_owned(),
    }
}
