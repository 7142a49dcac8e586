//! The command line of `pathtwin compare`.

use anyhow::{anyhow, ensure};
use clap::{Args, ValueEnum};
use model::{run::FigureKind, spec::quantity};

/// Compare two sets of runs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin compare before.json after.json
  pathtwin compare before:20 last:5 --path office
  pathtwin compare label:cc=cubic label:cc=bbr --only goodput_bps
  pathtwin compare main.json pr.json --output markdown > comment.md

A set is a file with a run, the beginning of an id in the history, several of
these separated by commas, last:N (the newest of a path), before:N (those before
the other set), or label:NAME=VALUE.

Verdicts are worse, better, same and cannot tell. A figure is worse or better if
the change is larger than the threshold and statistically significant, corrected
for the number of comparisons (docs/statistics.md).

Exit codes: 0 nothing is worse, 1 a figure is worse, 2 usage error, 3 the
history cannot be opened, 4 the sets have no figure in common.")]
pub(crate) struct Compare {
    /// The baseline runs
    pub(crate) before: String,
    /// The runs to judge against them
    pub(crate) after: String,
    #[command(flatten)]
    pub(crate) from: From,
    /// Smallest relevant change
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) threshold: f64,
    /// Only this kind of figure; may be given several times
    #[arg(long, value_name = "FIGURE", value_parser = figure)]
    pub(crate) only: Vec<FigureKind>,
    /// Also show the figures that are the same or cannot be judged
    #[arg(long)]
    pub(crate) all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// One figure a line
    Jsonl,
    /// Markdown, for a pull request
    Markdown,
    /// JUnit XML, for CI servers
    Junit,
}

/// A share, as `5%`.
pub(crate) fn share(text: &str) -> anyhow::Result<f64> {
    let share = quantity::share(text).map_err(|e| anyhow!("{e}"))?.get();
    ensure!(share < 1.0, "a threshold is below 100%");
    Ok(share)
}

pub(crate) fn figure(text: &str) -> anyhow::Result<FigureKind> {
    text.parse().map_err(|_| {
        let names = FigureKind::ALL.map(FigureKind::name);
        anyhow!("write one of {}", names.join(", "))
    })
}

/// Location of the runs.
#[derive(Debug, Args)]
pub(crate) struct From {
    #[cfg(feature = "history")]
    #[command(flatten)]
    pub(crate) place: super::history::StoreArgs,
    /// The path of last:, before: and label:; optional if there is only one
    #[cfg(feature = "history")]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
}
