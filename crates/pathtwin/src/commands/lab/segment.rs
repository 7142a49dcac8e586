//! `pathtwin lab run --segment` and `pathtwin lab gather`.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::atomic::Ordering};

use anyhow::{Context, anyhow};
use lab::{
    Lab, LabError,
    failures::Failures,
    gather::Gathered,
    segment::{
        Segment, Task, TaskId,
        file::{Part, Sweep},
    },
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
    let lab = whole::open(arguments)?;
    part(
        arguments,
        &lab,
        Task {
            name: &spec.name,
            cells: &cells,
            part: Part::Segment(segment),
            indices: &segment.indices(cells.len()),
            folder: out(arguments)?,
            resume: arguments.resume,
        },
    )
}

/// Runs the cells of a task of an array job, whose document is in the folder of the results.
pub(crate) fn task(arguments: &Run, task: TaskId) -> Result<ExitCode, Failure> {
    let spec = whole::read_spec(&arguments.spec, &arguments.cells)?;
    let cells = spec.cells().map_err(|e| Failure::new(code::USE, e))?;
    let lab = whole::open(arguments)?;
    let folder = out(arguments)?;
    let sweep = Sweep::new(&lab, &spec.name, &cells)?;
    let indices = lab::batch::Files::new(folder)?.cells_of(task, &sweep)?;
    part(
        arguments,
        &lab,
        Task {
            name: &spec.name,
            cells: &cells,
            part: Part::Task(task),
            indices: &indices,
            folder,
            resume: arguments.resume,
        },
    )
}

fn out(arguments: &Run) -> Result<&Path, Failure> {
    let folder = arguments.out.as_deref();
    folder.ok_or_else(|| wrong("this needs --out DIR for the results"))
}

/// Refuses what runs in real time.
pub(super) fn refuse_native(arguments: &Run) -> Result<(), Failure> {
    match arguments.engine {
        Engine::Uml => Ok(()),
        Engine::Native => Err(wrong(
            "parts of a spec take --engine uml: runs in real time differ, so they cannot be gathered",
        )),
    }
}

fn wrong(text: &'static str) -> Failure {
    Failure::new(code::USE, anyhow!(text))
}

/// Runs the cells of a part and prints their rows.
fn part(arguments: &Run, lab: &Lab, task: Task<'_>) -> Result<ExitCode, Failure> {
    refuse_native(arguments)?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let bar = progress::bar(task.indices.len());
    let mut failures = Failures::default();
    let outcome = lab::segment::run(lab, task, stop, &mut |index, done| {
        progress::step(&bar, done);
        if let Err(error) = &done.result
            && !matches!(error, LabError::Stopped)
            && let Some(text) = failures.add(&task.cells[index], &error.to_string())
        {
            bar.suspend(|| eprintln!("pathtwin: {text}"));
        }
    });
    bar.finish_and_clear();
    let outcome = outcome?;
    for line in failures.summary(outcome.cells) {
        eprintln!("pathtwin: {line}");
    }
    whole::print(arguments.output, task.name, &outcome.rows, None)?;
    let (done, all) = (outcome.completed, outcome.cells);
    let what = match task.part {
        Part::Segment(segment) => format!("segment {segment}"),
        Part::Task(task) => format!("task {task}"),
    };
    say(format_args!(
        "{done} of the {all} cells of {what} are in {}",
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
    report_failed(&gathered);
    report_missing(&gathered);
    whole::print(arguments.output, &gathered.sweep.name, &gathered.rows, None)?;
    say_gathered(&gathered)?;
    Ok(match gathered.is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(code::FAILED),
    })
}

/// Prints how many cells there are, and the hash of their rows.
pub(super) fn say_gathered(gathered: &Gathered) -> Result<(), LabError> {
    say(format_args!(
        "{} of {} cells; BLAKE3 of the rows as JSON lines: {}",
        gathered.completed,
        gathered.sweep.cells,
        gathered.digest()?
    ));
    Ok(())
}

/// Reports damaged lines and failed cells.
pub(super) fn report_failed(gathered: &Gathered) {
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
}

/// Reports missing cells, and how to get them.
fn report_missing(gathered: &Gathered) {
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
    if open.is_empty() && !gathered.is_complete() {
        say(format_args!(
            "hint: `pathtwin lab run SPEC --on slurm --out DIR --resume` completes them"
        ));
    }
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
