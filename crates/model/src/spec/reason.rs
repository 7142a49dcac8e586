//! Reasons of problems in a spec.

use super::{place::Place, quantity::ValueError};
use crate::cell::Rule;

/// Maximum number of cells of a spec.
pub(super) const MAX_CELLS: u64 = 100_000;
/// Maximum number of `[[cross]]` tables.
pub(super) const MAX_CROSSES: usize = 1000;

/// Reason of a problem; the message follows the name of the key and a colon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reason {
    /// The file is not TOML.
    #[error("{0}")]
    Toml(String),
    /// The value does not fit its key.
    #[error("{0}")]
    Value(#[from] ValueError),
    /// The cell that follows from the values is impossible.
    #[error("{rule}{}", remedy.as_ref().map_or(String::new(), |remedy| format!("; {remedy}")))]
    Cell {
        /// The violated rule.
        rule: Rule,
        /// Setting that resolves it.
        remedy: Option<String>,
    },
    /// A key that does not exist.
    #[error("unknown key{}", nearest.as_ref().map_or(String::new(), |near| {
        format!("; nearest is {near}")
    }))]
    UnknownKey {
        /// The nearest key.
        nearest: Option<String>,
    },
    /// A key that belongs elsewhere, with its place.
    #[error("{0}")]
    Elsewhere(&'static str),
    /// A key that was already set.
    #[error("set twice, also on {0}")]
    SetTwice(Place),
    /// A table where a value belongs.
    #[error("takes a value, not a table")]
    Table,
    /// A value where a table belongs.
    #[error("write {0}, a table")]
    NoTable(&'static str),
    /// A number of a competitor that does not exist.
    #[error("there are {0} [[cross]] tables, counted from 0")]
    NoCross(usize),
    /// Too many competitors.
    #[error("more than {MAX_CROSSES} tables")]
    Crosses,
    /// A factor whose levels are not an array.
    #[error("takes an array of values in the matrix")]
    NoArray,
    /// A factor without levels.
    #[error("has no values")]
    NoLevels,
    /// A key that is the same in all cells.
    #[error("cannot vary; repeats gives several seeds")]
    Fixed,
    /// A level that is listed twice.
    #[error("{0} is listed twice")]
    LevelTwice(String),
    /// A label that is not a text.
    #[error("a label must be a non-empty text")]
    Label,
    /// A custom factor with a level that has no label.
    #[error("no such key or table; a custom factor needs a label in each of its values")]
    NoLabel,
    /// A selected level that the factor does not have.
    #[error("{value} is not one of its labels {}", labels.join(", "))]
    NoLevel {
        /// The selected level.
        value: String,
        /// The labels of the factor.
        labels: Vec<String>,
    },
    /// Two factors that set one key.
    #[error("is also set by the factor \"{factor}\" on {place}")]
    Overlap {
        /// The other factor.
        factor: String,
        /// Its place.
        place: Place,
    },
    /// A key that the matrix sets.
    #[error("the matrix sets it by \"{0}\"; set that instead")]
    InMatrix(String),
    /// Too many cells; absent = more than 2^64.
    #[error("{} cells with the repeats; the maximum is {MAX_CELLS}", cells.map_or(
        "more than 2^64".to_owned(),
        |cells| cells.to_string(),
    ))]
    TooManyCells {
        /// Number of cells.
        cells: Option<u64>,
    },
    /// A value that no cell uses.
    #[error("no cell uses it")]
    Unused,
    /// A key that this kind of traffic needs.
    #[error("this kind needs {0}")]
    Needs(String),
    /// A key of a competitor that has a profile.
    #[error("the profile sets it; leave one of the two out")]
    SetByProfile,
    /// A percentage of a rate that the path does not have.
    #[error(
        "is a percentage, but the path has no rate in this direction: this end sends {0}; set path.rate or \
         path.{0}.rate, or write a rate"
    )]
    ShareOfNoRate(&'static str),
    /// The same of the router between the two lines.
    #[error(
        "is a percentage, but the path has no rate in this direction; set path.rate or path.{0}.rate, or write a rate"
    )]
    RouterShareOfNoRate(&'static str),
    /// A buffer that has no size without a rate.
    #[error("has no size without a rate; {remedy}, or write packets or bytes")]
    NoRate {
        /// Setting that resolves it.
        remedy: String,
    },
    /// A defect of this program.
    #[error("internal error: a combination produced no cell")]
    NoCell,
}
