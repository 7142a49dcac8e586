//! The command line of `pathtwin fix`.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::Args;
use model::{advice::Keep, spec::quantity};

use super::advise::GoalName;

/// Measure a path, find what is wrong, try remedies on its twin, apply the best, and keep it only
/// if it helps
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin fix --lab cases/4-speedtest/twin.toml --yes
  pathtwin fix --lab cases/3-narrow/twin.toml --for latency --keep 'goodput>=90%' --yes

The change is made by `tune` on the hosts of the lab path, in the guest's kernel. It is measured in
turns with the change and without, and undone unless what the advice promised improves beyond chance
and nothing else becomes worse beyond its bound. What decides: docs/reference/tune.md.

Exit codes: 0 kept, or there is nothing to change; 1 undone or refused, 2 wrong use, 3 something is missing,
4 a run failed, 130 stopped by Ctrl-C.")]
pub(crate) struct Fix {
    /// The lab path (a spec)
    #[arg(long, value_name = "SPEC", required = true)]
    pub(crate) lab: PathBuf,
    #[command(flatten)]
    pub(crate) cells: super::Cells,
    /// Measure with the default plan instead of the quick one
    #[arg(long)]
    pub(crate) long: bool,
    /// What is to improve
    #[arg(long = "for", value_enum, default_value_t = GoalName::Balanced, value_name = "GOAL")]
    pub(crate) goal: GoalName,
    /// A bound that the change must keep, for example goodput>=90% or rtt-p99<=80ms; repeatable
    #[arg(long, value_name = "FIGURE>=VALUE")]
    pub(crate) keep: Vec<Keep>,
    /// Apply what is advised without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Turns with the change, and as many without
    #[arg(long, value_name = "N", default_value_t = tune::PAIRS, value_parser = clap::value_parser!(u32).range(3..=20))]
    pub(crate) pairs: u32,
    /// Longest time of the search for a twin, and of the trial after it
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, default_value = "2m")]
    pub(crate) budget_time: Duration,
    /// Runs in the lab at once; default: one a processor
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Run everything, also what is known
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = super::twin::TwinForm::Text)]
    pub(crate) output: super::twin::TwinForm,
}
