//! The command line of `pathtwin report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::document;

/// Give a run, or results of the lab, a form for people or for other programs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin report run.json --out report.html
  pathtwin report 3f2a --lang zh-CN --out report.html        (a run of the history)
  pathtwin report run.json out/rows.jsonl --out report.html  (with a matrix of the lab)
  pathtwin report run.json --format text
  pathtwin report run.json --format flent --step 'tunnel/v4 tcp down x1 bbr' --out run.flent.gz

A page is one file that needs no network. See docs/reference/report.md.

Exit codes: 0 done, 2 wrong use, or not a document that can be reported.")]
pub(crate) struct Report {
    /// A run or rows of `lab run`: a file, - for standard input, or the beginning of a run's id in
    /// the history; beside a run, several files with rows
    #[arg(required = true, value_name = "RUN")]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) place: document::Place,
    /// In which form
    #[arg(long, value_enum, default_value_t = Form::Html)]
    pub(crate) format: Form,
    /// In which language, where the form has one
    #[arg(long, value_enum, default_value_t = Language::En)]
    pub(crate) lang: Language,
    /// Which load, by its name in the tables of --format text, such as "underlay/v4 tcp down x1
    /// cubic"; with --format flent only
    #[arg(long, value_name = "NAME")]
    pub(crate) step: Option<String>,
    /// Write to this file; without it, to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// One page with charts, for a browser
    Html,
    /// Tables for a terminal
    #[value(alias = "terminal")]
    Text,
    /// What limits the path and the figures, for a pull request or a wiki
    Markdown,
    /// A line for each sample
    Csv,
    /// Whether samples count and what limits the path, for a CI server
    Junit,
    /// Figures as gauges, for Prometheus' text file collector
    Prometheus,
    /// One load over time, as a data file of flent (.flent.gz)
    Flent,
}

/// A language on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// English
    En,
    /// Simplified Chinese
    #[value(name = "zh-CN", alias = "zh")]
    ZhCn,
}
