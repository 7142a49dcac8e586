//! The command line of `pathtwin history`.

use std::{path::PathBuf, time::Duration};

use anyhow::bail;
use clap::{Args, Subcommand};
use model::history::Kind;
use model::{spec::quantity, units::Bytes};

use super::{Format, age::age};

/// Earlier runs: list, plot, find changes, keep and delete
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin history list --last 10
  pathtwin history show 3f2a
  pathtwin history series --figure goodput_bps --step \"tcp down\"
  pathtwin history trend --path office
  pathtwin history label 3f2a change=bbr path=office
  pathtwin history export --path office > office.jsonl
  pathtwin history prune --older-than 180d --larger-than 1GB

Documents are named by the beginning of their id. The history is a file in the
user's data folder; --store, or PATHTWIN_STORE in the environment, selects
another one. See docs/reference/history.md.

Exit codes: 0 success, 2 usage error or no such document, 3 the history cannot
be opened or the disk is full, 4 it is damaged.")]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List documents, the newest first
    List(List),
    /// Show one document
    Show(Show),
    /// Show a figure over time
    #[command(after_help = "Without --figure and --step, the available series.")]
    Series(Figures),
    /// Find lasting changes of figures, and other changes at that time
    #[command(
        after_help = "Without --last, the last 1000 runs of each series are used.

A change is found three to five runs after it, at the earliest with eight runs
before it. Without a change, one series of twenty with a hundred runs shows one
by chance (docs/statistics.md)."
    )]
    Trend(Figures),
    /// Add labels to a document, or remove them
    #[command(
        after_help = "The label path names the path of a run: runs of one path form a series.
Documents with the label keep are never pruned."
    )]
    Label(Label),
    /// Delete documents
    Delete(Delete),
    /// Write documents to standard output, one per line
    Export(Selection),
    /// Add runs and exported documents
    #[command(after_help = "A document that is already in the history is not added again.")]
    Import(Import),
    /// Delete old documents, or the oldest above a size
    Prune(Prune),
}

/// The history.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArgs {
    /// The history: a file, or postgres://USER@HOST/DATABASE, across a network with
    /// ?sslmode=verify-full&sslrootcert=FILE|system; default: $PATHTWIN_STORE, else the user's own
    #[arg(long, value_name = "PLACE")]
    pub(crate) store: Option<String>,
    /// Largest document that is read from the history or added to it
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = quantity::size)]
    pub(crate) max_document: Bytes,
}

/// Selection of documents.
#[derive(Clone, Debug, Args)]
pub(crate) struct KindFilter {
    /// Only of this path
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Only with this label; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) label: Vec<(String, String)>,
    /// Only newer than this, such as 30d
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) since: Option<Duration>,
    /// Only the last N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub(crate) last: Option<u64>,
}

/// A kind of document in a history.
#[derive(Debug, Args)]
pub(crate) struct OfKind {
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    /// Kind of document: run, findings, advice, change
    #[arg(long, value_name = "KIND", default_value = "run")]
    pub(crate) kind: Kind,
}

/// Some documents of a history.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    #[command(flatten)]
    pub(crate) which: KindFilter,
    /// Only this kind: run, findings, advice, change
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<Kind>,
}

/// `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => bail!("write NAME=VALUE"),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Label {
    #[command(flatten)]
    pub(crate) of: OfKind,
    /// The beginning of the document's id
    pub(crate) id: String,
    /// Labels; NAME= removes the label
    #[arg(required = true, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) labels: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) of: OfKind,
    /// The beginnings of the documents' ids
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    /// Runs as JSON, or the output of `history export`; - is standard input
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Add this label to each; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) label: Vec<(String, String)>,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Prune {
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    /// Delete documents older than this, such as 180d
    #[arg(long, value_name = "AGE", value_parser = age, group = "what")]
    pub(crate) older_than: Option<Duration>,
    /// Delete the oldest documents until the rest takes no more than this, such as 1GB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, group = "what")]
    pub(crate) larger_than: Option<Bytes>,
    /// Only print how much would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// All of them; without it, text shows the last 50
    #[arg(long, conflicts_with = "last")]
    pub(crate) all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) of: OfKind,
    /// The beginning of the document's id
    pub(crate) id: String,
    /// Output format; json is the document as it is stored
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Figures over time.
#[derive(Debug, Args)]
pub(crate) struct Figures {
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    /// Only this kind of figure, such as goodput_bps
    #[arg(long, value_name = "FIGURE")]
    pub(crate) figure: Option<String>,
    /// Only steps with all these words in their name, such as "tunnel tcp down"
    #[arg(long, value_name = "WORDS")]
    pub(crate) step: Option<String>,
    #[command(flatten)]
    pub(crate) which: KindFilter,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
