//! Pages of a history: overview of all paths, one path over time, matrix of hosts.
//!
//! They are served and not saved: style and script are files of the server ([`STYLE`], [`SCRIPT`]),
//! so that a policy without inline code can be kept, and charts are SVG that needs no script. The
//! content is computed by the caller; names of series are those of the history.

mod card;
mod chart;
mod frame;
mod mesh;
mod overview;
mod path;
mod sign_in;

use model::{
    facts::Connection,
    findings::Severity,
    history::{Point, SeriesName, Trend},
    net::{Direction, Layer},
    text::{Text, Value},
};

use super::words::Lang;
pub use mesh::{Cell, Mesh, mesh};
pub use overview::{Budget, overview};
pub use path::path;
pub use sign_in::{message, sign_in};

/// The style sheet of all pages.
pub const STYLE: &str = concat!(
    include_str!("assets/page.css"),
    include_str!("assets/dashboard.css")
);
/// The script of all pages: it updates the parts that have changed.
pub const SCRIPT: &str = include_str!("assets/dashboard.js");

/// Frame common to all pages.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The language.
    pub lang: Lang,
    /// True if the reader chose it, so that links preserve it.
    pub chosen: bool,
    /// The query of the page, which a link to the other language preserves.
    pub query: Vec<(String, String)>,
    /// Version of this program.
    pub program: String,
    /// The time, µs since 1970.
    pub now_us: u64,
    /// True if there are several hosts to compare.
    pub mesh: bool,
}

/// Days for which a lasting change is shown as the state of its path.
pub const CHANGED_DAYS: u64 = 7;

/// State of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Within the usual range.
    Usual,
    /// A figure is worse than usual now.
    Worse,
    /// A figure has changed for good within [`CHANGED_DAYS`].
    Changed,
    /// It was not measured recently.
    Old,
    /// Its far end does not answer.
    Unreachable,
    /// There are too few runs for a state.
    New,
}

/// Comparison of the present with the usual range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Within the usual values, or nothing to compare.
    Usual,
    /// Better than the usual values.
    Better,
    /// Worse than the usual values.
    Worse,
}

/// A path at a glance.
#[derive(Clone, Debug)]
pub struct Card {
    /// Its name.
    pub path: String,
    /// Its state.
    pub state: State,
    /// Connection of its tunnel to the far end, if it has one.
    pub connection: Option<Connection>,
    /// The newest run and when it started, µs since 1970.
    pub run: Option<(String, u64)>,
    /// Its main figures.
    pub figures: Vec<Glance>,
    /// Limiting causes, from the last run that can tell: severity and title.
    pub causes: Vec<(Severity, Text)>,
    /// What keeps a watch from measuring it.
    pub troubles: Vec<Text>,
    /// Values of a watch, between runs.
    pub live: Vec<Live>,
}

/// A figure at a glance.
#[derive(Clone, Debug)]
pub struct Glance {
    /// The series.
    pub series: SeriesName,
    /// Median of the latest day.
    pub today: Option<f64>,
    /// Median of the present level before that.
    pub usual: Option<f64>,
    /// Comparison of both.
    pub tone: Tone,
    /// The latest values, the oldest first.
    pub values: Vec<f64>,
}

/// A value of a watch.
#[derive(Clone, Debug)]
pub struct Live {
    /// The figure.
    pub name: Text,
    /// The layer.
    pub layer: Layer,
    /// The direction of the load.
    pub direction: Option<Direction>,
    /// The latest value.
    pub latest: Value,
    /// The usual one.
    pub usual: Option<Value>,
}

/// A path over time.
#[derive(Clone, Debug)]
pub struct PathHistory {
    /// At a glance.
    pub card: Card,
    /// Its main series, the requested one first.
    pub charts: Vec<Series>,
    /// The names of all its series.
    pub others: Vec<SeriesName>,
    /// Changes of `tune` in that time: when and id.
    pub tuned: Vec<(u64, String)>,
    /// Its latest runs, the newest first: id, start, labels.
    pub runs: Vec<(String, u64, String)>,
}

/// A series with its lasting changes.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name.
    pub name: SeriesName,
    /// Its runs in the order of time.
    pub points: Vec<Point>,
    /// Its changes, with the facts that changed at the same time.
    pub changes: Vec<Trend>,
}
