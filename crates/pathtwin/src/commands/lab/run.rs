//! `pathtwin lab run`.

use std::{
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Context, anyhow};
use lab::{Config, Lab, LabError, cell::CellResult, failures::Failures};
use model::{
    cell::Cell,
    figures::Figures,
    row::{ROW_SCHEMA, Row, Rows},
    spec::Spec,
};

use super::invalid;
use crate::{
    cli::{Cells, Engine, Format, Run},
    exit::{Failure, code},
    format, progress,
    say::say,
};

/// Reads a spec and applies the overrides of the command line.
pub(crate) fn read_spec(path: &Path, cells: &Cells) -> Result<Spec, Failure> {
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read {}", path.display()))
        .map_err(wrong)?;
    // Files named in a spec are relative to it.
    let beside = path.parent().unwrap_or(Path::new(""));
    let mut spec = Spec::parse(&path.display().to_string(), &text)
        .and_then(|spec| spec.with_files(|name| std::fs::read_to_string(beside.join(name))))
        .map_err(|e| wrong(e.into()))?;
    for setting in &cells.set {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| wrong(anyhow!("--set {setting}: write KEY=VALUE")))?;
        spec.set(key, value).map_err(|e| wrong(e.into()))?;
    }
    Ok(match cells.seed {
        Some(seed) => spec.with_seed(seed),
        None => spec,
    })
}

pub(crate) fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let spec = read_spec(&arguments.spec, &arguments.cells)?;
    let cells = spec.cells().map_err(|e| Failure::new(code::USE, e))?;
    if arguments.resume {
        let error = anyhow!("--resume continues a segment (--segment) or an array job (--on)");
        return Err(Failure::new(code::USE, error));
    }
    format::check(arguments.graph.as_deref())?;
    let rows_file = arguments
        .out
        .as_ref()
        .map(|folder| folder.join("rows.jsonl"));
    format::check(rows_file.as_deref())?;
    let figures = arguments.against.as_deref().map(read_figures).transpose()?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let done = run_cells(arguments, &cells, stop)?;
    let mut rows: Vec<Row> = Vec::new();
    for (cell, result) in cells.iter().zip(&done.results) {
        if let Some(Ok(result)) = result {
            rows.extend(lab::rows::rows(cell, result)?);
        }
    }
    // An error of a file comes after the rows, which it must not take away.
    let kept = arguments.out.as_deref().map_or(Ok(()), |folder| {
        lab::keep::keep(folder, &cells, &done.results, &rows)
    });
    let drawn = graph(arguments, &spec.name, &rows, figures.as_ref());
    print(arguments.output, &spec.name, &rows, figures.as_ref())?;
    kept?;
    drawn?;
    if stop.load(Ordering::Relaxed) {
        let ended = done.results.iter().flatten().filter(|r| r.is_ok()).count();
        say!(
            "pathtwin: stopped; {ended} of {} cells are done, and their results are kept",
            cells.len()
        );
        return Ok(ExitCode::from(code::INTERRUPTED));
    }
    Ok(if done.failed > 0 || invalid::is_all(&rows) {
        ExitCode::from(code::FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes the page with a graph, if requested.
pub(super) fn graph(
    arguments: &Run,
    name: &str,
    rows: &[Row],
    figures: Option<&Figures>,
) -> Result<(), Failure> {
    let Some(file) = &arguments.graph else {
        return Ok(());
    };
    let page = report::graph::page(name, rows, figures);
    format::file(file, sys::files::Readers::ByUmask, page.as_bytes())?;
    say!("pathtwin: graph in {}", file.display());
    Ok(())
}

/// Prints rows, with published figures if there are any.
pub(super) fn print(
    output: Format,
    name: &str,
    rows: &[Row],
    figures: Option<&Figures>,
) -> Result<(), Failure> {
    invalid::say_why(rows);
    match output {
        // The reason why there are none has been printed.
        Format::Text if rows.is_empty() => Ok(()),
        Format::Text => format::text(&report::terminal::table(rows, figures, format::width())),
        Format::Json => format::json(&Rows {
            schema: ROW_SCHEMA,
            name: name.to_owned(),
            rows: rows.to_vec(),
        }),
        Format::Jsonl => format::json_lines(rows),
    }
}

struct Done {
    results: Vec<Option<Result<CellResult, LabError>>>,
    failed: usize,
}

/// Opens the lab with the options of the command line.
pub(super) fn open(arguments: &Run) -> Result<Lab, LabError> {
    Lab::open(&Config {
        engine: match arguments.engine {
            Engine::Uml => lab::Engine::Uml,
            Engine::Native => lab::Engine::Native,
        },
        cache: !arguments.no_cache,
        jobs: arguments.jobs,
        wall_limit: Duration::from_secs(arguments.cells.wall_limit),
        ..Config::default()
    })
}

/// Runs cells with a progress bar, and reports failures immediately, each reason once.
fn run_cells(arguments: &Run, cells: &[Cell], stop: &AtomicBool) -> Result<Done, Failure> {
    let lab = open(arguments)?;
    lab.check(cells)?;
    let bar = progress::bar(cells.len());
    let mut failures = Failures::default();
    let results = lab.all(cells, stop, &mut |ended| {
        progress::step(&bar, ended);
        let Err(error) = &ended.result else { return };
        if !matches!(error, LabError::Stopped)
            && let Some(text) = failures.add(&cells[ended.index], &error.to_string())
        {
            bar.suspend(|| say!("pathtwin: {text}"));
        }
    });
    bar.finish_and_clear();
    for line in failures.summary(cells.len()) {
        say!("pathtwin: {line}");
    }
    Ok(Done {
        results,
        failed: failures.count(),
    })
}

pub(super) fn read_figures(path: &Path) -> Result<Figures, Failure> {
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read {}", path.display()))
        .map_err(wrong)?;
    Figures::parse(&text)
        .with_context(|| format!("parse {}", path.display()))
        .map_err(wrong)
}
