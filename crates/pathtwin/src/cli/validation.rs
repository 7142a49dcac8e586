//! Command line of the validation of pathtwin.

use std::{num::NonZeroUsize, ops::RangeInclusive, path::PathBuf, str::FromStr};

use clap::{Args, ValueEnum};

use super::Format;

/// Check the accuracy of `measure` on random lab paths, where the truth is known
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin lab accuracy                     (the table of docs/accuracy.md)
  pathtwin lab accuracy --paths 6
  pathtwin lab accuracy --coverage 200      (coverage of the stated intervals)
  pathtwin lab accuracy --coverage 10 --draw 1005 --only 0-9 --quick --out runs
      (on drawn paths)
  pathtwin lab accuracy --pairs 500 --out pairs
      (verdicts of compare; resumes where it stopped)
  pathtwin lab accuracy --twins 30 --draw 7  (predictions of twins)
  pathtwin lab accuracy --twins 30 --twin-paths beyond
      (the same where a path has more than a twin)
  pathtwin lab accuracy --causes 200 --quick --out drawn
      (findings on random paths; resumes)
  pathtwin lab accuracy --causes 200 --quick --out drawn --only 27,100-160
      (a few of them)
  pathtwin lab accuracy --fixes 40 --out fixes
      (changes by fix on 40 paths of the corpus; resumes)
  pathtwin lab accuracy --captures FILE
      (policers named from captures of bench/policing)

Exit codes: 0 success, 2 wrong arguments or files, 3 something is missing, 4 a
run failed.")]
pub struct Accuracy {
    /// Number of random paths
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = 64)]
    pub paths: usize,
    /// Seed of the random paths
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub draw: u64,
    /// Check the coverage of the intervals instead of the errors, over this many seeds; with
    /// --only, on these drawn paths
    #[arg(long, value_name = "SEEDS", value_parser = at_least_one, group = "drawn")]
    pub coverage: Option<usize>,
    /// Check the verdicts of compare instead of the errors, on this many pairs of runs of the
    /// default plan of each kind: without a change, with 5 % less capacity, with 5 ms more buffer
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "coverage")]
    pub pairs: Option<usize>,
    /// Check twins instead of the errors, on this many random paths: fitted to cubic and UDP alone,
    /// then asked for bbr, eight flows, shapers, a larger buffer and a small MTU
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with_all = ["coverage", "pairs"])]
    pub twins: Option<usize>,
    /// With --twins: the kind of paths. With `beyond` and `profiles`, bbr is measured for the fit,
    /// too
    #[arg(long, value_enum, default_value_t = TwinPaths::Within, requires = "twins")]
    pub twin_paths: TwinPaths,
    /// Check explain instead of the errors, on this many drawn scenarios whose true causes are
    /// derived (docs/drawn.md). Draws below 1000 are for training, below 1009 for calibration,
    /// others for evaluation
    #[arg(long, value_name = "N", value_parser = at_least_one, group = "drawn", conflicts_with_all = ["coverage", "pairs", "twins"])]
    pub causes: Option<usize>,
    /// Check fix instead of the errors, on this many lab paths of the corpus: its changes, and
    /// their effect with another seed (docs/fix.md)
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with_all = ["coverage", "pairs", "twins", "causes"])]
    pub fixes: Option<usize>,
    /// With --fixes: the folder of the corpus
    #[arg(long, value_name = "DIR", default_value = "corpus", requires = "fixes")]
    pub corpus: PathBuf,
    /// Check the segment that explain names instead of the errors, on this many drawn paths of two
    /// lines in series with a third point between them (docs/reference/third.md), with the quick
    /// plan
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with_all = ["coverage", "pairs", "twins", "causes"])]
    pub segments: Option<usize>,
    /// Check watch instead of the errors, on this many drawn paths, of which three of five change
    /// once (docs/reference/watch.md)
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with_all = ["coverage", "pairs", "twins", "causes", "fixes", "segments"])]
    pub watch: Option<usize>,
    /// Check what twin takes for a policer instead of the errors, on the captures of this file,
    /// written by bench/policing (docs/accuracy.md). The table is of the half for evaluation
    #[arg(long, value_name = "FILE", conflicts_with_all = ["coverage", "pairs", "twins", "causes", "fixes", "segments", "watch"])]
    pub captures: Option<PathBuf>,
    /// With --watch: days of virtual time that each path is watched
    #[arg(long, value_name = "N", default_value_t = 30.0, requires = "watch")]
    pub days: f64,
    /// With --causes, and with --coverage and --only: measure the quick plan instead of the default
    /// one
    #[arg(long, requires = "drawn")]
    pub quick: bool,
    /// With --causes and --coverage: only these scenarios of the draw, by index or by first and
    /// last index
    #[arg(long, value_name = "N[-N]", value_delimiter = ',', requires = "drawn")]
    pub only: Vec<Indices>,
    /// With --causes: take truths from this file of lines (corpus/judged), where it has the
    /// scenario, instead of deriving them again
    #[arg(long, value_name = "FILE", requires = "causes")]
    pub truths: Option<PathBuf>,
    /// With --pairs: runs without a change, and half as many of each kind with one
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = 33)]
    pub runs: usize,
    /// Write every run, and every comparison, to this folder; with --pairs, --twins, --causes,
    /// --coverage and --only, --fixes and --watch, reuse those that exist
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs in parallel; default: one per processor
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Output format of --twins, --causes, --fixes and --captures: tables, or one line a path
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with_all = ["coverage", "pairs"])]
    pub output: Format,
}

/// A number of paths or seeds: without any there is no result.
fn at_least_one(text: &str) -> Result<usize, String> {
    let count: NonZeroUsize = text.parse().map_err(|_| "a number from 1 on".to_owned())?;
    Ok(count.get())
}

/// Scenarios of a draw: `27`, or `100-160` with both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices(pub RangeInclusive<usize>);

impl FromStr for Indices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self(first..=last)),
            _ => Err("an index like 27, or a range like 100-160".to_owned()),
        }
    }
}

/// Paths of twins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TwinPaths {
    /// Drawn ones that a twin can be equal to
    Within,
    /// Drawn ones with a feature that a twin cannot have: a rate that changes, two queues in
    /// series, bursts of others
    Beyond,
    /// The profiles of cases/paths
    Profiles,
}

/// Options for a corpus.
#[derive(Debug, Args)]
pub struct Corpus {
    /// Evaluate the rules on the scenarios of this folder instead of a run
    #[arg(long, value_name = "DIR", group = "what")]
    pub corpus: Option<PathBuf>,
    /// Scenarios and seeds
    #[arg(long, value_enum, default_value_t = Which::Evaluation, requires = "corpus")]
    pub part: Which,
    /// Only scenarios with this in their name; may be given several times
    #[arg(long, value_name = "NAME", requires = "corpus")]
    pub only: Vec<String>,
    /// Write the runs to this folder, and reuse those that exist
    #[arg(long, value_name = "DIR", requires = "corpus")]
    pub runs: Option<PathBuf>,
    /// Scenarios in parallel; default: one per processor
    #[arg(long, short, value_name = "N", requires = "corpus")]
    pub jobs: Option<NonZeroUsize>,
    /// Measure every scenario, even if its result is cached
    #[arg(long, requires = "corpus")]
    pub no_cache: bool,
}

/// A part of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// The scenarios and seeds with which rules are developed
    Training,
    /// All scenarios, with seeds that no rule was developed with
    Evaluation,
}

/// Engines of the key `engine`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PathBy {
    /// One queueing discipline for each direction, where the line needs no more
    Device,
    /// The kernel's own shapers and emulators on ordinary routers
    Chain,
}

/// Check the lab against arithmetic, standards and published measurements
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin lab validate
  pathtwin lab validate --only cubic --only fifo
  pathtwin lab validate --engine chain
      (the same by the kernel's own shapers and routers)

Exit codes: 0 all checks passed, 1 one failed, 3 something is missing
(docs/validation.md).")]
pub struct Validate {
    /// Only checks with this in their name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Only print the names of the checks
    #[arg(long)]
    pub list: bool,
    /// How paths are made, as by the key `engine` of a spec
    #[arg(long, value_enum, default_value_t = PathBy::Device)]
    pub engine: PathBy,
    /// Cells in parallel; default: one per processor
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Run every cell, even if its result is cached
    #[arg(long)]
    pub no_cache: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub output: Format,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_an_index_or_a_range_with_both_ends() {
        let parse = |text: &str| text.parse::<Indices>().ok().map(|indices| indices.0);
        assert_eq!(parse("27"), Some(27..=27));
        assert_eq!(parse("100-160"), Some(100..=160));
        for wrong in ["", "-", "9-", "-9", "9-8", "x"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
