//! The command line of `pathtwin history`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use model::{spec::quantity, units::Bytes};
use store::Kind;

use super::Format;

/// What was measured before: list, draw, find changes, keep and forget
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin history list --last 10
  pathtwin history show 3f2a
  pathtwin history series --figure goodput_bps --step \"tcp down\"
  pathtwin history trend --path office
  pathtwin history label 3f2a change=bbr path=office
  pathtwin history export --path office > office.jsonl
  pathtwin history prune --older-than 180d --larger-than 1GB

Documents are named by the beginning of their id. The history is a file in the user's data folder;
--store, or PATHTWIN_STORE in the environment, names another one. See docs/reference/history.md.

Exit codes: 0 done, 2 wrong use or no such document, 3 the history cannot be opened or is full,
4 it is damaged.")]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The documents, the newest first
    List(List),
    /// One document
    Show(Show),
    /// A figure over time
    Series(Series),
    /// Lasting changes of figures, and what else changed then
    Trend(Trend),
    /// Put labels on a document, or take them away
    Label(Label),
    /// Delete documents
    Delete(Delete),
    /// Write documents to standard output, one a line
    Export(Export),
    /// Add runs and exported documents
    Import(Import),
    /// Forget what is old, or too much
    Prune(Prune),
}

/// Which history.
#[derive(Clone, Debug, Args)]
pub(crate) struct Where {
    /// The history: a file, or postgres://USER@HOST/DATABASE, across a network with
    /// ?sslmode=verify-full&sslrootcert=FILE|system; default: $PATHTWIN_STORE, else the user's own
    #[arg(long, value_name = "PLACE")]
    pub(crate) store: Option<String>,
    /// Largest document that is read from the history or into it
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = quantity::size)]
    pub(crate) max_document: Bytes,
}

/// Which documents.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    /// Only of this path
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Only with this label; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) label: Vec<(String, String)>,
    /// Only those made in this time, such as 30d
    #[arg(long, value_name = "AGE", value_parser = super::age::age)]
    pub(crate) since: Option<Duration>,
    /// Only the last so many
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<u64>,
}

/// `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give NAME=VALUE".to_owned()),
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "The label path is the path that a run is of: runs of one path make a series.
Documents with the label keep are never pruned."
)]
pub(crate) struct Label {
    #[command(flatten)]
    pub(crate) place: Where,
    /// The beginning of its id
    pub(crate) id: String,
    /// Labels; one without a value is taken away
    #[arg(required = true, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) labels: Vec<(String, String)>,
    /// Its kind: run, findings, advice, change
    #[arg(long, value_name = "KIND", default_value = "run")]
    pub(crate) kind: Kind,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) place: Where,
    /// The beginnings of their ids
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// Their kind: run, findings, advice, change
    #[arg(long, value_name = "KIND", default_value = "run")]
    pub(crate) kind: Kind,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Only this kind: run, findings, advice, change
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<Kind>,
}

#[derive(Debug, Args)]
#[command(after_help = "A document that is there already is not added again.")]
pub(crate) struct Import {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Runs as JSON, or what `history export` wrote; - is standard input
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Put this label on each; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) label: Vec<(String, String)>,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Prune {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Forget what is older than this, such as 180d
    #[arg(long, value_name = "AGE", value_parser = super::age::age, group = "what")]
    pub(crate) older_than: Option<Duration>,
    /// Forget the oldest until the rest takes no more than this, such as 1GB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, group = "what")]
    pub(crate) larger_than: Option<Bytes>,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Only this kind: run, findings, advice, change
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<Kind>,
    /// All of them; without it, text shows the last 50
    #[arg(long, conflicts_with = "last")]
    pub(crate) all: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) place: Where,
    /// The beginning of its id
    pub(crate) id: String,
    /// Its kind: run, findings, advice, change
    #[arg(long, value_name = "KIND", default_value = "run")]
    pub(crate) kind: Kind,
    /// What to print; json is the document as it was kept
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Which series.
#[derive(Clone, Debug, Args)]
pub(crate) struct Of {
    /// Only this kind of figure, such as goodput_bps
    #[arg(long, value_name = "FIGURE")]
    pub(crate) figure: Option<String>,
    /// Only steps with all these words in their name, such as "tunnel tcp down"
    #[arg(long, value_name = "WORDS")]
    pub(crate) step: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Without --figure and --step, the series that there are.")]
pub(crate) struct Series {
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) of: Of,
    #[command(flatten)]
    pub(crate) which: Which,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without --last, the last 1000 runs of each series are looked at.

A change is found three to five runs after it, at the earliest with eight
runs before it. Without a change, one series of twenty with a hundred runs shows one by chance
(docs/statistics.md)."
)]
pub(crate) struct Trend {
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) of: Of,
    #[command(flatten)]
    pub(crate) which: Which,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
