//! `pathtwin lab run --on slurm`.

use std::process::ExitCode;

use anyhow::Context;
use lab::{
    Config, Lab, LabError,
    batch::{Active, Batch, Event, Files, GivenUp, Options},
    gather::{Gathered, gather},
    segment::{SegmentError, file::Sweep},
};

use super::{run as whole, segment};
use crate::{
    cli::{Cells, Run},
    exit::{Failure, code},
    format::{check, say},
    progress,
};

/// Runs the cells of a spec on a cluster, and prints the rows of all.
pub(crate) fn run(arguments: &Run, options: &Options) -> Result<ExitCode, Failure> {
    segment::refuse_native(arguments)?;
    let spec = whole::read_spec(&arguments.spec, &arguments.cells)?;
    let cells = spec.cells().map_err(|e| Failure::new(code::USE, e))?;
    let figures = arguments.against.as_deref().map(whole::read_figures);
    let figures = figures.transpose()?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let files = Files::new(arguments.out.as_deref().context("--on needs --out DIR")?)?;
    check(arguments.graph.as_deref())?;
    let lab = open(arguments, &files)?;
    let batch = Batch {
        sweep: &Sweep::new(&lab, &spec.name, &cells)?,
        cells: &cells,
        spec: &arguments.spec,
        named: &spec.files,
        arguments: &passed_on(&arguments.cells),
        kernel: &lab.image()?.path,
        files: &files,
        options,
        resume: arguments.resume,
    };
    let bar = progress::bar(cells.len());
    let given_up = batch.run(stop, &mut |event| match event {
        Event::Waiting { ended, active } => {
            bar.set_position(ended as u64);
            bar.set_message(format!("; {}", tasks(active)));
        }
        event => bar.suspend(|| report(&event)),
    });
    bar.finish_and_clear();
    let given_up = match given_up {
        Err(LabError::Stopped) => {
            say(format_args!(
                "stopped; finished cells are in {}: continue with --resume",
                files.results().display()
            ));
            return Ok(ExitCode::from(code::INTERRUPTED));
        }
        other => other?,
    };
    let Some(gathered) = gathered(&files)? else {
        given_up.iter().take(1).for_each(report_given_up);
        let error = anyhow::anyhow!("none of the {} cells left a result", cells.len());
        return Err(Failure::new(code::FAILED, error));
    };
    segment::report_failed(&gathered);
    let named = |g: &&GivenUp| !gathered.failed.iter().any(|failed| failed.cell == g.cell);
    given_up.iter().filter(named).for_each(report_given_up);
    let drawn = whole::graph(arguments, &spec.name, &gathered.rows, figures.as_ref());
    whole::print(
        arguments.output,
        &spec.name,
        &gathered.rows,
        figures.as_ref(),
    )?;
    drawn?;
    segment::say_gathered(&gathered)?;
    Ok(match gathered.is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(code::FAILED),
    })
}

/// The lab whose image and guest program the tasks use: the ones of the first start, if it is
/// resumed.
fn open(arguments: &Run, files: &Files) -> Result<Lab, LabError> {
    if !(arguments.resume && files.exist()) {
        return whole::open(arguments);
    }
    Lab::open(&Config {
        cache: false,
        guest: Some(files.guest()),
        image: Some(kernel::Image::open(&files.kernel())?),
        ..Config::default()
    })
}

/// The arguments that tasks get as they were given.
fn passed_on(cells: &Cells) -> Vec<String> {
    let limit = ["--wall-limit".to_owned(), cells.wall_limit.to_string()];
    cells.overrides().chain(limit).collect()
}

/// All results in the folder; absent = no task has written any.
fn gathered(files: &Files) -> Result<Option<Gathered>, LabError> {
    match gather(&[files.results().to_owned()]) {
        Err(LabError::Segment(SegmentError::None(_))) => Ok(None),
        other => other.map(Some),
    }
}

fn tasks(active: &Active) -> String {
    let waiting = active.reason.as_ref().filter(|_| active.pending > 0);
    let why = waiting.map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "tasks: {} running, {} pending{why}",
        active.running, active.pending
    )
}

fn report(event: &Event<'_>) {
    let job = |round: &lab::batch::Round| round.job.clone().unwrap_or_default();
    match event {
        Event::Submitted(round) => say(format_args!(
            "job {} submitted: {} cells in {} tasks",
            job(round),
            round.tasks.iter().map(Vec::len).sum::<usize>(),
            round.tasks.len()
        )),
        Event::Found(round) => say(format_args!("job {} goes on", job(round))),
        Event::Trouble(error) => say(format_args!("{error}; the scheduler is asked again")),
        Event::Cancelled(round) => say(format_args!("job {} cancelled", job(round))),
        Event::Waiting { .. } => {}
    }
}

/// Reports a cell without a result after all tries.
fn report_given_up(cell: &GivenUp) {
    let messages = match cell.messages.as_str() {
        "" => "it left no messages".to_owned(),
        messages => format!("the end of its messages:\n{messages}"),
    };
    say(format_args!(
        "cell {} seed {} has no result: its task ended {} times without one; {messages}",
        cell.cell, cell.seed, cell.attempts
    ));
}
