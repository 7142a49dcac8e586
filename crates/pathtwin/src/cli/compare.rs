//! The command line of `pathtwin compare`.

use clap::{Args, ValueEnum};
use model::{run::FigureKind, spec::quantity};

/// Say what changed from one set of runs to another
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin compare before.json after.json
  pathtwin compare before:20 last:5 --path office
  pathtwin compare label:cc=cubic label:cc=bbr --only goodput_bps
  pathtwin compare main.json pr.json --output markdown > comment.md

A set is a file with a run, the beginning of an id in the history, several of these with commas
between them, last:N (the newest of a path), before:N (those before the other set), or
label:NAME=VALUE.

Verdicts are worse, better, same and cannot tell. A figure is worse or better if the change is
larger than the threshold and not by chance, all comparisons taken together (docs/statistics.md).

Exit codes: 0 nothing is worse, 1 something is, 2 wrong use, 3 the history cannot be opened, 4
there is nothing that both sets measured.")]
pub(crate) struct Compare {
    /// The runs to compare with
    pub(crate) before: String,
    /// The runs to judge
    pub(crate) after: String,
    #[command(flatten)]
    pub(crate) from: From,
    /// The smallest change that matters
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) threshold: f64,
    /// Only this kind of figure; may be given several times
    #[arg(long, value_name = "FIGURE", value_parser = figure)]
    pub(crate) only: Vec<FigureKind>,
    /// Show also what is the same, and of what nothing can be told
    #[arg(long)]
    pub(crate) all: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// One document
    Json,
    /// One figure a line
    Jsonl,
    /// For a pull request
    Markdown,
    /// JUnit XML, for CI servers
    Junit,
}

/// A share, as `5%` or 0.05.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = quantity::share(text).map_err(|e| e.to_string())?.get();
    if share < 1.0 {
        Ok(share)
    } else {
        Err("a threshold is below 100%".to_owned())
    }
}

pub(crate) fn figure(text: &str) -> Result<FigureKind, String> {
    text.parse().map_err(|_| {
        let names = FigureKind::ALL.map(FigureKind::name);
        format!("give one of {}", names.join(", "))
    })
}

/// Where the runs are.
#[derive(Debug, Args)]
pub(crate) struct From {
    #[cfg(feature = "history")]
    #[command(flatten)]
    pub(crate) place: super::history::Where,
    /// The path whose runs last:, before: and label: mean; may be left out if there is only one
    #[cfg(feature = "history")]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
}
