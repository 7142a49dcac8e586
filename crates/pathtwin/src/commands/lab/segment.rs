//! `pathtwin lab run --segment` and `pathtwin lab gather`.

use std::{collections::BTreeMap, process::ExitCode, sync::atomic::Ordering};

use anyhow::{Context, anyhow};
use lab::{
    LabError,
    failures::Failures,
    gather::Gathered,
    segment::{Segment, Task},
};

use super::run as whole;
use crate::{
    cli::{Engine, Gather, Run},
    exit::{Failure, code},
    format::say,
    progress,
};

/// Cells that are named in one message; the rest is counted.
const NAMED: usize = 10;

/// Runs the cells of a segment and prints their rows.
pub(crate) fn run(arguments: &Run, segment: Segment) -> Result<ExitCode, Failure> {
    let spec = whole::read_spec(&arguments.spec, &arguments.cells)?;
    let cells = spec.cells().map_err(|e| Failure::new(code::USE, e))?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let wrong = |text: &'static str| Failure::new(code::USE, anyhow!(text));
    if arguments.engine == Engine::Native {
        return Err(wrong(
            "--segment takes --engine uml: runs in real time differ, so their segments cannot be gathered",
        ));
    }
    let folder = arguments.out.as_deref();
    let task = Task {
        name: &spec.name,
        cells: &cells,
        segment,
        folder: folder.ok_or_else(|| wrong("--segment needs --out DIR for its results"))?,
        resume: arguments.resume,
    };
    let lab = whole::open(arguments)?;
    let bar = progress::bar(segment.indices(cells.len()).len());
    let mut failures = Failures::default();
    let outcome = lab::segment::run(&lab, task, stop, &mut |index, done| {
        progress::step(&bar, done);
        if let Err(error) = &done.result
            && !matches!(error, LabError::Stopped)
            && let Some(text) = failures.add(&cells[index], &error.to_string())
        {
            bar.suspend(|| eprintln!("pathtwin: {text}"));
        }
    });
    bar.finish_and_clear();
    let outcome = outcome?;
    for line in failures.summary(outcome.cells) {
        eprintln!("pathtwin: {line}");
    }
    whole::print(arguments.output, &spec.name, &outcome.rows, None)?;
    let (done, all) = (outcome.completed, outcome.cells);
    say(format_args!(
        "{done} of the {all} cells of segment {segment} are in {}",
        task.folder.display()
    ));
    Ok(match () {
        () if stop.load(Ordering::Relaxed) => ExitCode::from(code::INTERRUPTED),
        () if done < all => ExitCode::from(code::FAILED),
        () => ExitCode::SUCCESS,
    })
}

/// Combines segments and prints the rows of all cells.
pub(crate) fn gather(arguments: &Gather) -> Result<ExitCode, Failure> {
    let gathered = lab::gather::gather(&arguments.folders)?;
    report_gaps(&gathered);
    whole::print(arguments.output, &gathered.sweep.name, &gathered.rows, None)?;
    say(format_args!(
        "{} of {} cells; BLAKE3 of the rows as JSON lines: {}",
        gathered.completed,
        gathered.sweep.cells,
        gathered.digest()?
    ));
    Ok(match gathered.is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(code::FAILED),
    })
}

/// Reports damaged lines, failed and missing cells, and how to get them.
fn report_gaps(gathered: &Gathered) {
    for (file, line) in &gathered.unreadable {
        say(format_args!(
            "line {line} of {} is truncated or damaged, and is ignored",
            file.display()
        ));
    }
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for failed in &gathered.failed {
        let cell = format!("cell {} seed {}", failed.cell, failed.seed);
        reasons.entry(&failed.error).or_default().push(cell);
    }
    for (error, cells) in reasons {
        say(format_args!("{} failed: {error}", some(&cells)));
    }
    if !gathered.missing.is_empty() {
        let cells: Vec<_> = gathered.missing.iter().map(usize::to_string).collect();
        say(format_args!(
            "{} cells missing: {}",
            cells.len(),
            some(&cells)
        ));
    }
    let open: Vec<_> = gathered
        .incomplete_segments()
        .iter()
        .map(Segment::to_string)
        .collect();
    if !open.is_empty() {
        say(format_args!(
            "hint: `pathtwin lab run SPEC --segment K/N --out DIR --resume` completes {}",
            some(&open)
        ));
    }
}

/// The first of them, and how many more.
fn some(all: &[String]) -> String {
    let named = &all[..NAMED.min(all.len())];
    match all.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
