//! The current state of the paths, for status lines and metrics.

use model::text::Text;

use super::Watcher;
use crate::{figures::Figure, message::Cause, path_state::PathState, plan::TooSmall};

/// A figure now.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureStatus {
    /// The figure.
    pub figure: Figure,
    /// The latest value: s, share or bit/s.
    pub latest: f64,
    /// The median of its present level.
    pub usual: Option<f64>,
}

/// A path now.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStatus {
    /// Its name.
    pub name: String,
    /// True if the far end answers, as far as is known.
    pub reachable: bool,
    /// What is wrong with measuring it: why the far end does not answer, or why loads measure
    /// nothing.
    pub troubles: Vec<Text>,
    /// Its figures.
    pub figures: Vec<FigureStatus>,
    /// The causes at the last run of the full plan.
    pub causes: Vec<Cause>,
    /// The last run in the history.
    pub run: Option<String>,
}

impl Watcher {
    /// All paths, in the order of the config.
    pub fn status(&self) -> Vec<PathStatus> {
        let paths = self.config.paths.iter();
        let paths = paths.filter_map(|path| Some((path, self.saved.paths.get(&path.name)?)));
        paths
            .map(|(path, state)| PathStatus {
                name: path.name.clone(),
                reachable: !state.reach.reported,
                troubles: troubles(state),
                figures: state
                    .latest
                    .iter()
                    .map(|(figure, latest)| FigureStatus {
                        figure: *figure,
                        latest: *latest,
                        usual: self.usual(&path.name, *figure),
                    })
                    .collect(),
                causes: state.causes.clone(),
                run: state.run.clone(),
            })
            .collect()
    }

    fn usual(&self, path: &str, figure: Figure) -> Option<f64> {
        let tracks = self.tracks.get(path)?;
        let (_, track) = tracks.iter().find(|(own, _)| *own == figure)?;
        let from = track.starts().last().copied().unwrap_or(0);
        let values = track.values().filter(|value| value.at_us >= from);
        let values: Vec<f64> = values.map(|value| value.value).collect();
        stats::median(&values)
    }
}

fn troubles(state: &PathState) -> Vec<Text> {
    let error = state.reach.error.clone().filter(|_| state.reach.reported);
    let too_small = state.too_small.as_ref().map(TooSmall::text);
    error.into_iter().chain(too_small).collect()
}
