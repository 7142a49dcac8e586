//! The command line of `pathtwin report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::document;

/// Convert runs and results of the lab to a page, text or data
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin report run.json --out report.html
  pathtwin report 3f2a --lang zh-CN --out report.html  (a run of the history)
  pathtwin report run.json out/rows.jsonl --out report.html
      (with a matrix of the lab)
  pathtwin report run.json twin.json advice.json --out report.html
  pathtwin report run.json --format text
  pathtwin report run.json --format flent --step 'tunnel/v4 tcp down x1 bbr' \\
      --out run.flent.gz

A page is one file that needs no network. See docs/reference/report.md.

Exit codes: 0 success, 2 usage error or not a document that can be reported.")]
pub(crate) struct Report {
    /// A run, rows of `lab run`, a twin or an advice: a file, - for standard input, or the
    /// beginning of a run's id in the history; with a run, there may be several files with rows
    #[arg(required = true, value_name = "RUN")]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) place: document::Place,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Form::Html)]
    pub(crate) format: Form,
    /// Language of a page
    #[arg(long, value_enum, default_value_t = Language::En)]
    pub(crate) lang: Language,
    /// With --format flent: the load, by its name in --format text, such as "underlay/v4 tcp down
    /// x1 cubic"
    #[arg(long, value_name = "NAME")]
    pub(crate) step: Option<String>,
    /// Write to this file; default: standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// One page with charts, for a browser
    Html,
    /// Tables for a terminal
    #[value(alias = "terminal")]
    Text,
    /// Findings and figures, for a pull request or a wiki
    Markdown,
    /// One line a sample
    Csv,
    /// Validity of the samples and findings, for a CI server
    Junit,
    /// Figures as gauges, for Prometheus' text file collector
    Prometheus,
    /// One load as a time series, in a data file of flent (.flent.gz)
    Flent,
}

/// A language of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// English
    En,
    /// Simplified Chinese
    #[value(name = "zh-CN", alias = "zh")]
    ZhCn,
}
