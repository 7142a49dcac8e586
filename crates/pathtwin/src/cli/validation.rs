//! The command line of checks of pathtwin itself.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};

use super::Format;

/// Check `measure` on drawn lab paths, where the truth is known
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin lab accuracy                     (the table of docs/accuracy.md)
  pathtwin lab accuracy --paths 6
  pathtwin lab accuracy --coverage 200      (whether the stated intervals hold)
  pathtwin lab accuracy --pairs 500 --out pairs   (whether compare is right; goes on where it was ended)

Exit codes: 0 done, 3 something is missing, 4 a run failed.")]
pub struct Accuracy {
    /// How many paths to draw
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub paths: usize,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub draw: u64,
    /// Check stated intervals in place of errors, over this many seeds
    #[arg(long, value_name = "SEEDS")]
    pub coverage: Option<usize>,
    /// Check what compare says in place of errors, on this many pairs of runs of the default plan
    /// of each kind: without a change, with 5 % less capacity, with 5 ms more buffer
    #[arg(long, value_name = "N", conflicts_with = "coverage")]
    pub pairs: Option<usize>,
    /// With --pairs: runs without a change, and half as many of each kind with one
    #[arg(long, value_name = "N", default_value_t = 33)]
    pub runs: usize,
    /// Keep every run, and every comparison, in this folder; with --pairs, take those that are
    /// there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs at once; default: one a processor
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// How a corpus is run.
#[derive(Debug, Args)]
pub struct Corpus {
    /// Judge the scenarios of this folder in place of a Run, and say how often that is right
    #[arg(long, value_name = "DIR", group = "what")]
    pub corpus: Option<PathBuf>,
    /// Which scenarios and seeds
    #[arg(long, value_enum, default_value_t = Which::Evaluation, requires = "corpus")]
    pub part: Which,
    /// Only scenarios with this in their name; may be given several times
    #[arg(long, value_name = "NAME", requires = "corpus")]
    pub only: Vec<String>,
    /// Keep the Runs in this folder, and take those that are there
    #[arg(long, value_name = "DIR", requires = "corpus")]
    pub runs: Option<PathBuf>,
    /// Scenarios at once; default: one a processor
    #[arg(long, short, value_name = "N", requires = "corpus")]
    pub jobs: Option<NonZeroUsize>,
    /// Measure every scenario, also those whose result is known
    #[arg(long, requires = "corpus")]
    pub no_cache: bool,
}

/// A part of the corpus on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// What rules are made with
    Training,
    /// All scenarios, with seeds that no rule was made with
    Evaluation,
}

/// Check the lab against arithmetic, standards and published measurements
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin lab validate
  pathtwin lab validate --only cubic --only fifo

Exit codes: 0 all checks passed, 1 one failed, 3 something is missing (docs/validation.md).")]
pub struct Validate {
    /// Only checks with this in their name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Print the names of the checks, and run none
    #[arg(long)]
    pub list: bool,
    /// Cells at once; default: one a processor
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Run every cell, also those whose result is known
    #[arg(long)]
    pub no_cache: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub output: Format,
}
