//! `pathtwin report`.

use std::{
    io::{IsTerminal, stdout},
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

use crate::cli::report::{Form, Language, Report};
use crate::{
    exit::{Failure, code},
    format,
};

impl From<Language> for Lang {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::English,
            Language::ZhCn => Self::SimplifiedChinese,
        }
    }
}

pub(crate) fn report(arguments: &Report) -> Result<ExitCode, Failure> {
    let documents = read(arguments)?;
    let screen = arguments.out.is_none() && stdout().is_terminal();
    if screen && matches!(arguments.format, Form::Html | Form::Flent) {
        let why = anyhow!("this format is not for a terminal: name a file with --out");
        return Err(Failure::new(code::USE, why));
    }
    if arguments.step.is_some() && arguments.format != Form::Flent {
        let why = anyhow!("--step works only with --format flent");
        return Err(Failure::new(code::USE, why));
    }
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
            "this format is for a single run; results of the lab can be html or text"
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
    let mut documents = Documents {
        causes: explain::titles(),
        ..Documents::default()
    };
    for name in &arguments.documents {
        let text = arguments.place.named(name)?;
        let document = Document::parse(&text)
            .with_context(|| name.clone())
            .map_err(wrong)?;
        documents
            .add(document, explain::judge)
            .with_context(|| name.clone())
            .map_err(wrong)?;
    }
    Ok(documents)
}
