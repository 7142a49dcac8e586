//! `pathtwin lab run --segment` and `pathtwin lab gather`.

use std::{path::Path, process::ExitCode, sync::atomic::Ordering};

use anyhow::{Context, anyhow};
use lab::{
    Lab, LabError,
    failures::Failures,
    gather::Gathered,
    segment::{Part, Segment, Task, TaskId, file::Sweep},
};
use report::gathered::Gaps;

use super::run as whole;
use crate::{
    cli::{Engine, Gather, Run},
    exit::{Failure, code},
    format::say,
    progress,
    say::say,
};

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

/// Refuses cells that run in real time.
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
            bar.suspend(|| say!("pathtwin: {text}"));
        }
    });
    bar.finish_and_clear();
    let outcome = outcome?;
    for line in failures.summary(outcome.cells) {
        say!("pathtwin: {line}");
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
    say_all(&report::gathered::missing(&gaps(&gathered)));
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
    say_all(&report::gathered::failed(&gaps(gathered)));
}

fn say_all(lines: &[String]) {
    lines.iter().for_each(|line| say(format_args!("{line}")));
}

fn gaps(gathered: &Gathered) -> Gaps<'_> {
    let failed = gathered.failed.iter();
    let open = gathered.incomplete_segments();
    Gaps {
        unreadable: &gathered.unreadable,
        failed: failed.map(|f| (f.cell, f.seed, &f.error)).collect(),
        missing: &gathered.missing,
        open: open.iter().map(Segment::to_string).collect(),
        is_complete: gathered.is_complete(),
    }
}
