//! The values of a cell by name.

use crate::net::{Direction, Side};

/// A value of a cell, by its table and its name in a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// Where it stands.
    pub table: Table,
    /// Its name there.
    pub leaf: &'static str,
}

/// A part of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// The cell itself.
    Top,
    /// What both directions share.
    Path,
    /// One direction.
    Line(Direction),
    /// The tunnel.
    Tunnel,
    /// One host.
    End(Side),
    /// The measured traffic.
    Traffic,
    /// A competitor, by its place in the cell.
    Cross(usize),
}

impl Table {
    /// A value in it.
    pub const fn field(self, leaf: &'static str) -> Field {
        Field { table: self, leaf }
    }
}
