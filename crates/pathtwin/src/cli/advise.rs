//! The command line of `pathtwin advise`.

use std::{num::NonZeroUsize, time::Duration};

use clap::Args;
use model::{advice::Keep, spec::quantity};

use super::proof::GoalName;

/// Try remedies on a twin of the path, and recommend one
///
/// No host is changed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin advise run.json
  pathtwin advise run.json --for latency --keep 'goodput>=90%'
  pathtwin advise twin.json --for throughput       (an existing twin)
  pathtwin advise run.json --output json > advice.json

No change is always a candidate, and wins ties. Figures of --keep: goodput, rtt,
rtt-p99, retransmitted, each with -down or -up for one direction; a percentage
is relative to the present value. Candidates and criteria:
docs/reference/advice.md.

Exit codes: 0 success, 1 the twin does not fit, 2 usage error or a run that
lacks data, 3 something is missing, 4 every trial failed in the lab, 130 stopped
by Ctrl-C (completed runs are cached).")]
pub(crate) struct Advise {
    /// A Run or a Twin: a file, - for standard input, or the beginning of a Run's id in the history
    #[cfg_attr(feature = "history", arg(required_unless_present = "calibration"))]
    pub(crate) document: Option<String>,
    /// Print how good advice has been on the paths of the history: predictions, and the
    /// measurements in the proofs of `pathtwin fix`
    #[cfg(feature = "history")]
    #[arg(long, conflicts_with = "document")]
    pub(crate) calibration: bool,
    #[command(flatten)]
    pub(crate) place: super::document::Place,
    /// Figure to improve
    #[arg(long = "for", value_enum, default_value_t = GoalName::Balanced, value_name = "GOAL")]
    pub(crate) goal: GoalName,
    /// A bound that a remedy must keep, for example goodput>=90% or rtt-p99<=80ms; may be repeated
    #[arg(long, value_name = "FIGURE>=VALUE")]
    pub(crate) keep: Vec<Keep>,
    /// Longest time of the trials, from a Run including the search of its twin, which takes at most
    /// half of it. Counted for two processors by a model of the cost [default, with the search: 3m
    /// up to 100 Mbit/s, 15m from 1 Gbit/s on]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) budget_time: Option<Duration>,
    /// Parallel runs in the lab; default: one per processor
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Also show all candidates and reasons on a terminal
    #[arg(long)]
    pub(crate) all: bool,
    /// Run everything, even if the result is cached
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = super::twin::TwinForm::Text)]
    pub(crate) output: super::twin::TwinForm,
}
