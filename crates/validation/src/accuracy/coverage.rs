//! Coverage of the stated intervals: many runs of one plan on one path with different seeds.

pub mod drawn;

use model::run::{FigureKind, Run, StepKind};
use stats::Random;

/// A path on which TCP's goodput varies from run to run.
pub const SPEC: &str = "name = \"coverage\"\nseed = 1\n[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nbuffer = \"1bdp\"\nloss = \"0.3%\"\n";

/// Five short repeats of one step.
pub const PLAN: &str = r#"
name = "coverage"
probe_ms = 50.0
repeats = { min = 5, max = 5 }
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["cubic"]
warmup_s = 1
duration_s = 4
repeat = true
"#;

/// The counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Runs.
    pub runs: usize,
    /// Runs whose stated interval of the goodput contains the median of all samples of all runs.
    pub held: usize,
    /// Pairs of runs.
    pub pairs: usize,
    /// Pairs whose ratio was judged to differ from 1, although only the seed differs.
    pub different: usize,
}

/// Counts over runs.
pub fn count(runs: &[Run]) -> Option<Coverage> {
    let goodputs: Vec<Vec<f64>> = runs.iter().map(goodputs).collect();
    let all: Vec<f64> = goodputs.concat();
    let truth = stats::median(&all)?;
    let stated = runs.iter().filter_map(|run| {
        let figure = run
            .figures
            .iter()
            .find(|f| f.kind == FigureKind::Goodput && f.key.step == StepKind::Tcp)?;
        figure.spread.low.zip(figure.spread.high)
    });
    let held = stated
        .filter(|(low, high)| (*low..=*high).contains(&truth))
        .count();
    // Each run is paired with another, drawn once: they only have the path in common.
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let mut random = Random::new(1);
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    let mut different = 0;
    for pair in order.windows(2) {
        if let Some(ratio) = stats::ratio(&goodputs[pair[0]], &goodputs[pair[1]]) {
            different += usize::from(!ratio.interval.covers(1.0));
        }
    }
    Some(Coverage {
        runs: runs.len(),
        held,
        pairs: order.len().saturating_sub(1),
        different,
    })
}

fn goodputs(run: &Run) -> Vec<f64> {
    run.samples
        .iter()
        .filter(|s| s.valid)
        .filter_map(|s| Some(s.tcp.as_ref()?.goodput_bps))
        .collect()
}
