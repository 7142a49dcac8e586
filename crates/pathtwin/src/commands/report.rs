//! `pathtwin report`.

use std::{
    io::{IsTerminal, stdout},
    path::PathBuf,
    process::ExitCode,
};

use ::report::{
    csv::csv,
    documents::{Document, Documents},
    flent::flent,
    junit::junit,
    markdown::markdown,
    page::{self, Lang},
    prometheus::prometheus,
};
use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};

use crate::{
    document,
    exit::{Failure, code},
    format,
};

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
    /// Which load, by its name in the tables of --format text, such as "underlay/v4 tcp down x1 cubic";
    /// with --format flent only
    #[arg(long, value_name = "NAME")]
    step: Option<String>,
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
    let screen = arguments.out.is_none() && stdout().is_terminal();
    if screen && matches!(arguments.format, Form::Html | Form::Flent) {
        let why = anyhow!("this form is nothing for a terminal: name a file with --out");
        return Err(Failure::new(code::USE, why));
    }
    if arguments.step.is_some() && arguments.format != Form::Flent {
        let why = anyhow!("--step is for --format flent");
        return Err(Failure::new(code::USE, why));
    }
    let documents = read(arguments)?;
    let bytes = form(arguments, &documents)?;
    match &arguments.out {
        Some(file) => {
            format::file(file, sys::files::Readers::ByUmask, &bytes)?;
            format::say(format_args!("report in {}", file.display()));
        }
        None => format::print(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn form(arguments: &Report, documents: &Documents) -> Result<Vec<u8>, Failure> {
    let program = env!("CARGO_PKG_VERSION");
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let of_run = || match &documents.run {
        Some((run, findings)) if documents.matrices.is_empty() => Ok((run, findings)),
        _ => Err(wrong(anyhow!(
            "this form is of one run; results of the lab can be html or text"
        ))),
    };
    let text = match arguments.format {
        Form::Html => page::html(documents, arguments.lang.into(), program),
        Form::Text => ::report::documents::text(documents),
        Form::Markdown => of_run().map(|(run, findings)| markdown(run, findings))?,
        Form::Csv => of_run().map(|(run, _)| csv(run))?,
        Form::Junit => of_run().map(|(run, findings)| junit(run, findings))?,
        Form::Prometheus => of_run().map(|(run, findings)| prometheus(run, findings))?,
        Form::Flent => {
            let (run, _) = of_run()?;
            return flent(run, arguments.step.as_deref()).map_err(|e| wrong(e.into()));
        }
    };
    Ok(text.into_bytes())
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
