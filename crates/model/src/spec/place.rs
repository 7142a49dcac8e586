//! Places of values in a spec.

use std::fmt;

/// Location where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// No line: a default, or the file as a whole.
    File,
    /// This line of the file, counted from 1.
    Line(usize),
    /// The command line.
    Set,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("the file"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Set => f.write_str("--set"),
        }
    }
}
