//! The command line of `pathtwin twin`.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use model::spec::quantity;

/// Make a lab path that behaves like a measured one
///
/// It is fitted to a part of the run, and its predictions are compared with the rest.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin twin run.json --out twin.toml
  pathtwin lab run twin.toml                        (the path by itself)
  pathtwin measure HOST --output json | pathtwin twin -
  pathtwin twin run.json --budget-time 10m          (more paths are tried)
  pathtwin twin run.json --budget-time 0s  (arithmetic only, without a search)
  pathtwin twin run.json --output json > twin.json
      (all paths that fit, and every figure)

The verdict is based on predictions of figures left out of the fit:
docs/reference/twin.md.

Exit codes: 0 success, 1 the twin does not fit, 2 usage error or a run that
lacks data, 3 something is missing, 4 every path failed in the lab, 130 stopped
by Ctrl-C (completed runs are cached).")]
pub(crate) struct Twin {
    /// The Run: a file of `measure --output json`, - for standard input, or the beginning
    /// of its id in the history
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) place: super::document::Place,
    /// Write the path that fits best to this file, as a spec
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Maximum time of the search, counted for two processors by a model of the cost, so that the
    /// same run gives the same twin on any machine [default: 90s up to 100 Mbit/s, 450s from 1
    /// Gbit/s on]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) budget_time: Option<Duration>,
    /// Parallel runs in the lab; default: one per processor
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Run everything, even if the result is cached
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = TwinForm::Text)]
    pub(crate) output: TwinForm,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TwinForm {
    /// For people
    Text,
    /// One JSON document
    Json,
}
