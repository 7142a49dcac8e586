//! The command line of `pathtwin explain`.

use clap::{ArgGroup, Args, ValueEnum};
use model::findings::Severity;

/// Find what limits a path, from a run
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true)))]
#[command(after_help = "Examples:
  pathtwin explain run.json
  pathtwin measure far.example --output json | pathtwin explain -
  pathtwin explain run.json --all  (also what was ruled out, and how)
  pathtwin explain run.json --fail-on medium
      (exit code 1 if something is found)

Each cause has a page in docs/causes/.

Exit codes: 0 success, 1 a finding is as severe as --fail-on or worse, 2 usage
error or not a run.")]
pub(crate) struct Explain {
    /// The run: a file of `measure --out` or `--output json`, - for standard input, or the
    /// beginning of its id in the history
    #[arg(group = "what")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) place: super::document::Place,
    /// Also list in full the causes that were ruled out and those that cannot be judged
    #[arg(long)]
    pub(crate) all: bool,
    /// Exit with code 1 if a finding is at least this severe
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<Grade>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
    // The last, since its heading is that of all that follow.
    #[cfg(feature = "lab")]
    #[command(flatten, next_help_heading = "For --corpus")]
    pub(crate) corpus: super::Corpus,
}

/// A severity on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grade {
    /// Any cause, even one that costs little
    Low,
    /// Noticeable to people
    Medium,
    /// Limits the path
    High,
}

impl From<Grade> for Severity {
    fn from(grade: Grade) -> Self {
        match grade {
            Grade::Low => Self::Low,
            Grade::Medium => Self::Medium,
            Grade::High => Self::High,
        }
    }
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people
    Text,
    /// The findings as one JSON document
    Json,
    /// One finding a line; with --corpus one scenario a line
    Jsonl,
}
