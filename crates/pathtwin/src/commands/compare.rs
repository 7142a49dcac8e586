//! `pathtwin compare`.

mod sets;

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use compare::Options;
use model::{run::FigureKind, spec::quantity};

use crate::{
    exit::{Failure, code},
    format,
};

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
    before: String,
    /// The runs to judge
    after: String,
    #[command(flatten)]
    from: sets::From,
    /// The smallest change that matters
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    threshold: f64,
    /// Only this kind of figure; may be given several times
    #[arg(long, value_name = "FIGURE", value_parser = figure)]
    only: Vec<FigureKind>,
    /// Show also what is the same, and of what nothing can be told
    #[arg(long)]
    all: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
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
fn share(text: &str) -> Result<f64, String> {
    let share = quantity::share(text).map_err(|e| e.to_string())?.get();
    if share < 1.0 {
        Ok(share)
    } else {
        Err("a threshold is below 100%".to_owned())
    }
}

fn figure(text: &str) -> Result<FigureKind, String> {
    text.parse().map_err(|_| {
        let names = FigureKind::ALL.map(FigureKind::name);
        format!("give one of {}", names.join(", "))
    })
}

pub(crate) fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    let (before, after) = arguments.from.pair(&arguments.before, &arguments.after)?;
    let options = Options {
        threshold: arguments.threshold,
        only: arguments.only.clone(),
    };
    let comparison = compare::compare(
        (&arguments.before, &before),
        (&arguments.after, &after),
        &options,
    );
    match arguments.output {
        Form::Text => {
            let text = report::comparison::text(&comparison, arguments.all);
            format::print(text.as_bytes())?;
        }
        Form::Json => format::json(&comparison)?,
        Form::Jsonl => format::json_lines(&comparison.lines)?,
        Form::Markdown => format::print(report::comparison::markdown(&comparison).as_bytes())?,
        Form::Junit => format::print(report::comparison::junit(&comparison).as_bytes())?,
    }
    if comparison.lines.is_empty() {
        let why = anyhow!("there is no figure that both sets measured");
        return Err(Failure::new(code::FAILED, why));
    }
    Ok(ExitCode::from(if comparison.regressed() {
        code::VERDICT
    } else {
        0
    }))
}
