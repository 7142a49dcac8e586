//! Published figures for comparison with results.
//!
//! ```toml
//! source = "where the figures were published"
//! tolerance = 0.15
//! [[figure]]
//! factors = { "ends.server.cc" = "cubic", "path.down.loss" = "0.5%" }
//! goodput_mbps = 646.1
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    net::Direction,
    row::{Row, RowFigure},
};

/// A table of published figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Publication of the value.
    pub source: String,
    /// Maximum relative difference of a matching result.
    #[serde(default = "tenth")]
    pub tolerance: f64,
    /// The figures.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
}

/// One line of a published table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Figure {
    /// The published configuration by matrix key; a row must match all of them.
    #[serde(default)]
    pub factors: BTreeMap<String, serde_json::Value>,
    /// Direction, if the figure is for one.
    pub direction: Option<Direction>,
    /// Published values.
    #[serde(flatten)]
    pub values: BTreeMap<RowFigure, f64>,
}

fn tenth() -> f64 {
    0.1
}

impl Figures {
    /// Parses a table.
    ///
    /// # Errors
    /// Invalid TOML or an unknown key; the error names line and reason.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The published value of a figure of a row, if its configuration was published.
    pub fn value(&self, row: &Row, figure: RowFigure) -> Option<f64> {
        self.figures
            .iter()
            .filter(|f| f.fits(row))
            .find_map(|f| f.values.get(&figure).copied())
    }

    /// Returns true if a relative deviation is within the tolerance of the table.
    pub fn tolerates(&self, deviation: f64) -> bool {
        deviation.abs() <= self.tolerance
    }
}

impl Figure {
    fn fits(&self, row: &Row) -> bool {
        row.cross.is_none()
            && self.direction.is_none_or(|d| d == row.direction)
            && self
                .factors
                .iter()
                .all(|(key, value)| row.factors.get(key) == Some(value))
    }
}
