//! A cell of the atlas: its setting and its figures.

use model::row::Row;

use crate::number::rounded;

/// A factor of the sweep, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Rate of the bottleneck.
    Rate,
    /// Two-way propagation delay.
    Rtt,
    /// Queue of the bottleneck, and its size unless that is the kernel's default.
    Queue,
    /// Random loss of data packets, after the bottleneck.
    Loss,
    /// Tunnel over the path.
    Tunnel,
    /// Measured flows, and what shares the line with them.
    Flows,
    /// Congestion control of the measured flows.
    Cc,
}

impl Factor {
    /// All factors.
    pub const ALL: [Self; 7] = [
        Self::Rate,
        Self::Rtt,
        Self::Queue,
        Self::Loss,
        Self::Tunnel,
        Self::Flows,
        Self::Cc,
    ];

    /// Key in the matrix of the specs.
    pub fn key(self) -> &'static str {
        match self {
            Self::Rate => "path.rate",
            Self::Rtt => "rtt",
            Self::Queue => "queue",
            Self::Loss => "path.down.loss",
            Self::Tunnel => "tunnel",
            Self::Flows => "flows",
            Self::Cc => "ends.server.cc",
        }
    }

    /// Name of the column, and in addresses of the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Rtt => "rtt",
            Self::Queue => "queue",
            Self::Loss => "loss",
            Self::Tunnel => "tunnel",
            Self::Flows => "flows",
            Self::Cc => "cc",
        }
    }

    /// Name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Rtt => "RTT",
            Self::Queue => "queue",
            Self::Loss => "random loss",
            Self::Tunnel => "tunnel",
            Self::Flows => "flows",
            Self::Cc => "congestion control",
        }
    }

    fn place(self) -> usize {
        self as usize
    }
}

/// A figure of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Goodput of all measured flows, Mbit/s.
    Goodput,
    /// Goodput of the slowest measured flow, Mbit/s.
    Slowest,
    /// Goodput of the competing flow, Mbit/s.
    Other,
    /// Share of the sent bytes that were retransmitted.
    Retransmitted,
    /// RTT of the probes before the load, median, ms.
    Idle,
    /// RTT of the probes under load, median, ms.
    Loaded,
    /// RTT of the probes under load, 99th percentile, ms.
    LoadedP99,
    /// The flows' own smoothed RTT, median, ms.
    TcpRtt,
    /// Share of the data packets that the loss stage dropped.
    TrueLoss,
}

impl Figure {
    /// All figures, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Goodput,
        Self::Slowest,
        Self::Other,
        Self::Retransmitted,
        Self::Idle,
        Self::Loaded,
        Self::LoadedP99,
        Self::TcpRtt,
        Self::TrueLoss,
    ];

    /// Name of the column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_mbps",
            Self::Slowest => "slowest_mbps",
            Self::Other => "competitor_mbps",
            Self::Retransmitted => "retransmitted",
            Self::Idle => "idle_rtt_ms",
            Self::Loaded => "loaded_rtt_ms",
            Self::LoadedP99 => "loaded_rtt_p99_ms",
            Self::TcpRtt => "tcp_rtt_ms",
            Self::TrueLoss => "true_loss",
        }
    }

    fn of(self, own: &Row, other: Option<&Row>) -> Option<f64> {
        match self {
            Self::Goodput => own.goodput_mbps,
            Self::Slowest => own.goodput_range_mbps.map(|[slowest, _]| slowest),
            Self::Other => other.and_then(|row| row.goodput_mbps),
            Self::Retransmitted => own.retransmitted,
            Self::Idle => own.probe_idle_p50_ms,
            Self::Loaded => own.probe_p50_ms,
            Self::LoadedP99 => own.probe_p99_ms,
            Self::TcpRtt => own.tcp_rtt_p50_ms,
            Self::TrueLoss => own.true_loss,
        }
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Name of its spec.
    pub spec: String,
    /// Its index among the cells of the spec, from 0.
    pub index: usize,
    /// Beginning of BLAKE3 over its complete result, in hex.
    pub digest: String,
    /// True if its row is valid.
    pub valid: bool,
    levels: [String; Factor::ALL.len()],
    figures: [Option<f64>; Figure::ALL.len()],
}

/// Digits of a digest in the table. 64 bits: a wrong result has the same ones by chance once in
/// 10^19.
pub const DIGEST_DIGITS: usize = 16;

/// Rows that are not those of a cell of the atlas.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CellError {
    /// No row of measured traffic.
    #[error("cell {0} of {1} has no row of measured traffic")]
    NoRow(usize, String),
    /// The spec has other factors.
    #[error("a row of {spec} lacks the factor {factor}: this is not a spec of the atlas")]
    NoFactor {
        /// The spec.
        spec: String,
        /// The factor.
        factor: &'static str,
    },
}

impl Cell {
    /// The cell of a spec with this index, from all of its rows. The figures are rounded to what
    /// the table shows.
    ///
    /// # Errors
    /// The rows are of another kind of spec.
    pub fn of_rows(spec: &str, index: usize, rows: &[Row]) -> Result<Self, CellError> {
        let missing = || CellError::NoRow(index, spec.to_owned());
        let own = rows.iter().find(|row| row.cross.is_none());
        let own = own.ok_or_else(missing)?;
        let other = rows.iter().find(|row| row.cross.is_some());
        let mut levels: [String; Factor::ALL.len()] = Default::default();
        for factor in Factor::ALL {
            let value = own.factors.get(factor.key());
            let text = value.map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            levels[factor.place()] = text.ok_or_else(|| CellError::NoFactor {
                spec: spec.to_owned(),
                factor: factor.key(),
            })?;
        }
        Ok(Self {
            spec: spec.to_owned(),
            index,
            digest: own.digest.chars().take(DIGEST_DIGITS).collect(),
            valid: own.valid,
            levels,
            figures: Figure::ALL.map(|figure| figure.of(own, other).map(rounded)),
        })
    }

    /// A cell as the table has it.
    pub(crate) fn new(
        [spec, digest]: [String; 2],
        index: usize,
        valid: bool,
        levels: [String; Factor::ALL.len()],
        figures: [Option<f64>; Figure::ALL.len()],
    ) -> Self {
        Self {
            spec,
            index,
            digest,
            valid,
            levels,
            figures,
        }
    }

    /// The level of a factor, as in the spec.
    pub fn level(&self, factor: Factor) -> &str {
        &self.levels[factor.place()]
    }

    /// A figure; absent = not measured.
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        self.figures[figure as usize]
    }

    /// The number in a level: 100 of `100mbit`.
    pub fn number(&self, factor: Factor) -> Option<f64> {
        let level = self.level(factor);
        let end = level.find(|c: char| !c.is_ascii_digit() && c != '.');
        level[..end.unwrap_or(level.len())].parse().ok()
    }
}

/// The levels of a factor that cells have, in order of their first cell.
pub fn levels<'a>(cells: impl IntoIterator<Item = &'a Cell>, factor: Factor) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for cell in cells {
        if !levels.iter().any(|level| level == cell.level(factor)) {
            levels.push(cell.level(factor).to_owned());
        }
    }
    levels
}
