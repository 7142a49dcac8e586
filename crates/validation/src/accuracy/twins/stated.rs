//! Changes as an Advice states them, and how they came on the path.

use model::{
    advice::{AdviceFigure, Change, Outcome},
    net::Direction,
    twin::Twin,
};
use serde::{Deserialize, Serialize};

/// The stated change of a figure, and the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// Stated by the twin, with its 90 % interval.
    pub change: Change,
    /// On the path: the median of the ratios over the seeds.
    pub came: f64,
}

impl Stated {
    /// Returns true if the interval contains the truth.
    pub fn holds(&self) -> bool {
        self.change.low <= self.came && self.came <= self.change.high
    }
}

/// The changes of goodput and loaded RTT from pairs of outcomes without and with a change.
pub fn stated(twin: &Twin, on_path: &[[Outcome; 2]], on_twin: &[[Outcome; 2]]) -> Vec<Stated> {
    let counts = |change: &Change| {
        change.direction == Direction::Down
            && matches!(
                change.figure,
                AdviceFigure::Goodput | AdviceFigure::LoadedP50
            )
    };
    let changes = twin::stated(twin, on_twin).into_iter().filter(counts);
    let with_truth = |change: Change| {
        let ratios = on_path.iter().filter_map(|[before, after]| {
            let before = before.value(change.figure)?;
            Some(after.value(change.figure)? / before.max(1.0))
        });
        let came = stats::median(&ratios.collect::<Vec<_>>())?;
        Some(Stated { change, came })
    };
    changes.filter_map(with_truth).collect()
}
