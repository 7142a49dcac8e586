//! Data of the page's script: columns, with a character for the level of each factor.

use serde::{Deserialize, Serialize};

use crate::{
    cell::{Cell, Factor, Figure, levels},
    source,
};

/// The data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Number of cells.
    pub cells: usize,
    /// The factors.
    pub factors: Vec<Codes>,
    /// The specs' files.
    pub specs: Codes,
    /// The figures.
    pub figures: Vec<Values>,
    /// A character for each cell: `0` for one that is not valid.
    pub valid: String,
}

/// A factor: its levels, and a digit in base 36 for each cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Codes {
    /// Name.
    pub name: String,
    /// Key in the specs.
    pub key: String,
    /// Name for people.
    pub words: String,
    /// Levels.
    pub levels: Vec<String>,
    /// The number of the level of each cell.
    pub codes: String,
}

/// A figure of all cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Name.
    pub name: String,
    /// Name for people.
    pub words: String,
    /// Unit; a share is shown as a percentage.
    pub unit: String,
    /// The value of each cell.
    pub values: Vec<Option<f64>>,
}

impl Data {
    /// The levels of a factor.
    pub(super) fn levels(&self, factor: Factor) -> &[String] {
        let found = self
            .factors
            .iter()
            .find(|codes| codes.name == factor.name());
        found.map_or(&[], |codes| &codes.levels)
    }
}

/// Figures of the page with their names and units.
const SHOWN: [(Figure, &str, &str); 7] = [
    (Figure::Goodput, "goodput", "Mbit/s"),
    (Figure::Slowest, "slowest flow", "Mbit/s"),
    (Figure::Other, "competitor", "Mbit/s"),
    (Figure::Retransmitted, "retransmitted", "%"),
    (Figure::Loaded, "loaded RTT", "ms"),
    (Figure::LoadedP99, "loaded RTT, P99", "ms"),
    (Figure::TcpRtt, "flow's own RTT", "ms"),
];

/// The data of cells.
pub fn data(cells: &[Cell]) -> Data {
    let factor = |factor: Factor| Codes {
        name: factor.name().to_owned(),
        key: factor.key().to_owned(),
        words: factor.words().to_owned(),
        levels: levels(cells, factor),
        codes: codes(
            cells.iter().map(|c| c.level(factor)),
            &levels(cells, factor),
        ),
    };
    let files = || cells.iter().map(|cell| source::file(&cell.spec));
    let mut specs: Vec<String> = files().map(str::to_owned).collect();
    specs.dedup();
    Data {
        cells: cells.len(),
        factors: Factor::ALL.map(factor).to_vec(),
        specs: Codes {
            name: "spec".to_owned(),
            key: String::new(),
            words: "spec".to_owned(),
            codes: codes(files(), &specs),
            levels: specs,
        },
        figures: SHOWN
            .map(|(figure, words, unit)| Values {
                name: figure.name().to_owned(),
                words: words.to_owned(),
                unit: unit.to_owned(),
                values: cells.iter().map(|cell| cell.figure(figure)).collect(),
            })
            .to_vec(),
        valid: cells
            .iter()
            .map(|cell| if cell.valid { '1' } else { '0' })
            .collect(),
    }
}

/// A digit in base 36 for each text: its place among the levels.
fn codes<'a>(texts: impl Iterator<Item = &'a str>, levels: &[String]) -> String {
    let digit = |text: &str| {
        let at = levels.iter().position(|level| level == text).unwrap_or(0);
        char::from_digit(u32::try_from(at).unwrap_or(0), 36).unwrap_or('0')
    };
    texts.map(digit).collect()
}
