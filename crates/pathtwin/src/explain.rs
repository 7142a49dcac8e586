//! `pathtwin explain`.

#[cfg(feature = "lab")]
mod corpus;

use std::process::ExitCode;

use anyhow::Context;
use clap::{ArgGroup, Args, ValueEnum};
use model::{findings::Severity, run::Run};

use crate::{Failure, code, document, output};

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
    /// The Run: a file as `measure --output json` writes it, - for standard input, or the beginning of
    /// its id in the history
    #[arg(group = "what")]
    run: Option<String>,
    #[command(flatten)]
    place: document::Place,
    #[cfg(feature = "lab")]
    #[command(flatten, next_help_heading = "For --corpus")]
    corpus: corpus::Corpus,
    /// Say in full what was ruled out and what cannot be told
    #[arg(long)]
    all: bool,
    /// Exit with code 1 if a finding is at least this severe
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<Grade>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// A severity on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Grade {
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
enum Form {
    /// For people
    Text,
    /// The Findings as one document
    Json,
    /// One finding a line; of a corpus one scenario a line
    Jsonl,
}

pub(crate) fn explain(arguments: &Explain) -> Result<ExitCode, Failure> {
    #[cfg(feature = "lab")]
    if let Some(dir) = &arguments.corpus.corpus {
        let judged = corpus::judged(dir, &arguments.corpus)?;
        let score = ::explain::corpus::score(&judged);
        match arguments.output {
            Form::Text => output::print(::explain::corpus::markdown(&score).as_bytes())?,
            Form::Json => output::json(&score)?,
            Form::Jsonl => output::json_lines(&judged)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = arguments.run.as_deref().unwrap_or("-");
    let text = arguments.place.named(name)?;
    let run = Run::parse(&text)
        .with_context(|| name.to_owned())
        .map_err(|e| Failure::new(code::USE, e))?;
    let findings = ::explain::judge(&run);
    match arguments.output {
        Form::Text => output::print(report::findings::text(&findings, arguments.all).as_bytes())?,
        Form::Json => output::json(&findings)?,
        Form::Jsonl => output::json_lines(&findings.findings)?,
    }
    let limit = arguments.fail_on.map(Severity::from);
    Ok(match (findings.worst(), limit) {
        (Some(worst), Some(limit)) if worst >= limit => ExitCode::from(code::VERDICT),
        _ => ExitCode::SUCCESS,
    })
}
