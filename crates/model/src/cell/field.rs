//! Names of the values of a cell.

use crate::net::{Direction, Side};

/// A value of a cell, by its table and its name in a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// The table that contains it.
    pub table: Table,
    /// Its key in that table.
    pub leaf: &'static str,
}

/// A part of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// The cell itself.
    Top,
    /// Values shared by both directions.
    Path,
    /// One direction.
    Line(Direction),
    /// The tunnel.
    Tunnel,
    /// The stage of the tunnel's packets in one direction.
    TunnelLine(Direction),
    /// One direction of the line in front of the near end.
    LocalLine(Direction),
    /// One host.
    End(Side),
    /// The measured traffic.
    Traffic,
    /// A group of cross traffic, by its index in the cell.
    Cross(usize),
}

impl Table {
    /// A value of this table.
    pub const fn field(self, leaf: &'static str) -> Field {
        Field { table: self, leaf }
    }
}
