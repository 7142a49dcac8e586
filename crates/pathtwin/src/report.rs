//! `pathtwin report`.

use std::{
    io::{IsTerminal, stdout},
    path::PathBuf,
    process::ExitCode,
};

use ::report::{
    documents::{Document, Documents},
    page::{self, Lang},
};
use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};

use crate::{Failure, code, document, output};

/// Give a run, or results of the lab, a form for people or for other programs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin report run.json --out report.html
  pathtwin report 3f2a --lang zh-CN --out report.html        (a run of the history)
  pathtwin report run.json out/rows.jsonl --out report.html  (with a matrix of the lab)
  pathtwin report run.json --format text

A page is one file that needs no network. See docs/reference/report.md.

Exit codes: 0 done, 2 wrong use, or not a document that can be reported.")]
pub(crate) struct Report {
    /// A run or rows of `lab run`: a file, - for standard input, or the beginning of a run's id in the
    /// history; beside a run, several files with rows
    #[arg(required = true, value_name = "RUN")]
    documents: Vec<String>,
    #[command(flatten)]
    place: document::Place,
    /// In which form
    #[arg(long, value_enum, default_value_t = Form::Html)]
    format: Form,
    /// In which language, where the form has one
    #[arg(long, value_enum, default_value_t = Language::En)]
    lang: Language,
    /// Write to this file; without it, to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One page with charts, for a browser
    Html,
    /// Tables for a terminal
    Text,
}

/// A language on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// English
    En,
    /// Simplified Chinese
    #[value(name = "zh-CN", alias = "zh")]
    ZhCn,
}

impl From<Language> for Lang {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::English,
            Language::ZhCn => Self::SimplifiedChinese,
        }
    }
}

pub(crate) fn report(arguments: &Report) -> Result<ExitCode, Failure> {
    if arguments.format == Form::Html && arguments.out.is_none() && stdout().is_terminal() {
        let why = anyhow!("a page is nothing for a terminal: name a file with --out");
        return Err(Failure::new(code::USE, why));
    }
    let documents = read(arguments)?;
    let text = match arguments.format {
        Form::Html => page::html(&documents, arguments.lang.into(), env!("CARGO_PKG_VERSION")),
        Form::Text => ::report::documents::text(&documents),
    };
    match &arguments.out {
        Some(file) => {
            output::file(file, text.as_bytes())?;
            output::say(format_args!("report in {}", file.display()));
        }
        None => output::print(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(arguments: &Report) -> Result<Documents, Failure> {
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let mut documents = Documents::default();
    for name in &arguments.documents {
        let text = arguments.place.named(name)?;
        let document = Document::parse(&text)
            .with_context(|| name.clone())
            .map_err(wrong)?;
        documents
            .add(document)
            .with_context(|| name.clone())
            .map_err(wrong)?;
    }
    Ok(documents)
}
