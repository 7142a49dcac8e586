//! The command line of `pathtwin explain`.

use clap::{ArgGroup, Args, ValueEnum};
use model::findings::Severity;

/// Say what limits a path, from a Run
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true)))]
#[command(after_help = "Examples:
  pathtwin explain run.json
  pathtwin measure far.example --output json | pathtwin explain -
  pathtwin explain run.json --all                  (also what was ruled out, and how)
  pathtwin explain run.json --fail-on medium       (exit code 1 if something is found)

Each cause has a page in docs/causes/.

Exit codes: 0 done, 1 a finding is as severe as --fail-on or worse, 2 wrong use or not a Run.")]
pub(crate) struct Explain {
    /// The Run: a file as `measure --output json` writes it, - for standard input, or the beginning
    /// of its id in the history
    #[arg(group = "what")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) place: super::document::Place,
    #[cfg(feature = "lab")]
    #[command(flatten, next_help_heading = "For --corpus")]
    pub(crate) corpus: super::Corpus,
    /// Say in full what was ruled out and what cannot be told
    #[arg(long)]
    pub(crate) all: bool,
    /// Exit with code 1 if a finding is at least this severe
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<Grade>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// A severity on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grade {
    /// Any cause, also one that costs little
    Low,
    /// What people notice
    Medium,
    /// What makes the path slow
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

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people
    Text,
    /// The Findings as one document
    Json,
    /// One finding a line; of a corpus one scenario a line
    Jsonl,
}
